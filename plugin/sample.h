/* SPDX-License-Identifier: MIT */
/* Bytes to try codecs with: words of a few letters, the same each time. */
#ifndef TERSE_SAMPLE_H
#define TERSE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

static inline void sample_fill(char *sample, size_t len)
{
    uint32_t x = 12345;

    for (size_t i = 0; i < len; i++) {
        x = x * 1103515245u + 12345u;
        sample[i] = (x >> 16) % 6 ? (char)('a' + (x >> 20) % 12) : ' ';
    }
}

#endif
