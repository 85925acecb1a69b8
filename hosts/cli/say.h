/* SPDX-License-Identifier: MIT */
/* What the program says: complaints on stderr, and text of others' making without its control
 * characters. */
#ifndef TERSE_CLI_SAY_H
#define TERSE_CLI_SAY_H

#include <stdio.h>

#include <terse.h>

/* "terse: ..." on stderr; returns -1, so that a caller can say and fail in one line. */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);

/* Writes text with control characters as '?': header values must not drive a terminal. */
void print_text(FILE *to, terse_str text);

/* The words of a status that came without any. */
const char *status_words(terse_status status);

#endif
