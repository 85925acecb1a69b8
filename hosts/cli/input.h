/* SPDX-License-Identifier: MIT */
/* Files that a command is given to read. */
#ifndef TERSE_CLI_INPUT_H
#define TERSE_CLI_INPUT_H

#include <stddef.h>

/* The whole of a regular file, with a zero byte behind it, for the caller to free.  0, or -1 after a
 * complaint. */
int input_read(const char *name, char **bytes, size_t *len);

#endif
