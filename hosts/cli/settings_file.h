/* SPDX-License-Identifier: MIT */
/* Files of settings: lines "key = value", and comments that begin with "#". */
#ifndef TERSE_CLI_SETTINGS_FILE_H
#define TERSE_CLI_SETTINGS_FILE_H

#include <terse.h>

/* Takes one pair; 0, or -1 with words in why. */
typedef int (*setting_fn)(void *ctx, terse_str key, terse_str value, char *why, size_t why_len);

/* Splits "key = value" at its first "=" and drops the space around both.  0, or -1. */
int setting_split(const char *text, size_t len, terse_str *key, terse_str *value);

/* Gives each pair of a file ("-": standard input) to take, and complains as "FILE:LINE: words" of
 * each that it refuses.  Returns how many were taken, and adds to *wrong how many were not; a file
 * that cannot be read is one of these. */
unsigned settings_file_read(const char *path, setting_fn take, void *ctx, unsigned *wrong);

#endif
