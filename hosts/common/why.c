/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "why.h"

int terse_why(char *why, size_t why_len, const char *path, const char *format, ...)
{
    if (why_len == 0)
        return -1;
    int n = snprintf(why, why_len, "%s: ", path);
    if (n > 0 && (size_t)n < why_len) {
        va_list args;
        va_start(args, format);
        vsnprintf(why + n, why_len - (size_t)n, format, args);
        va_end(args);
    }
    for (char *c = why; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return -1;
}
