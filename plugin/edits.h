/* SPDX-License-Identifier: MIT */
/* The header edits of one decision, and the bytes they are made of; part of a pool. */
#ifndef TERSE_EDITS_H
#define TERSE_EDITS_H

#include <stdbool.h>

#include <terse.h>

#define EDITS_MAX 16
#define EDITS_BYTES 4096

struct edits {
    uint32_t count;
    uint32_t used; /* of bytes */
    terse_edit list[EDITS_MAX];
    char bytes[EDITS_BYTES];
};

void edits_clear(struct edits *e);
/* Adds one edit; name and value stay where they are.  False when the list is full. */
bool edits_put(struct edits *e, int32_t op, int32_t side, terse_str name, terse_str value);
/* Copies pieces one after another into *joined.  False when they do not fit. */
bool edits_join(struct edits *e, const terse_str *pieces, size_t n, terse_str *joined);

#endif
