/* SPDX-License-Identifier: MIT */
/* The content codings (RFC 9110 section 8.4.1) by number, inside the plugin only. */
#ifndef TERSE_CODING_H
#define TERSE_CODING_H

#include <stdbool.h>
#include <stddef.h>

enum coding {
    CODING_GZIP,
    CODING_BR,
    CODING_ZSTD,
    CODING_DEFLATE, /* the zlib format (RFC 1950), as RFC 9110 section 8.4.1.2 has it */
    CODING_COUNT,
    CODING_IDENTITY = CODING_COUNT,
    CODING_NONE = -1
};

/* Static, lower case; "identity" for CODING_IDENTITY. */
const char *coding_name(int coding);
/* Case-insensitive, x-gzip is gzip (section 8.4.1.3), identity included; CODING_NONE if unknown. */
int coding_from_name(const char *name, size_t len);
/* Whether this build has the codec. */
bool coding_built(int coding);

#endif
