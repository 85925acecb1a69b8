/* SPDX-License-Identifier: MIT */
/* Words of a refusal. */
#ifndef TERSE_WHY_H
#define TERSE_WHY_H

#include <stddef.h>

/* Writes "PATH: reason" into why, always one line: control characters become '?'.  Returns -1. */
__attribute__((format(printf, 4, 5))) int terse_why(char *why, size_t why_len, const char *path,
                                                    const char *format, ...);

#endif
