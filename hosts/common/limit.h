/* SPDX-License-Identifier: MIT */
/* Keeps a log from filling up with one complaint: at most one line a second. */
#ifndef TERSE_LIMIT_H
#define TERSE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* All zero to begin with. */
struct terse_limit {
    uint64_t last_ms;
    uint32_t left_out;
    uint32_t used;
};

/* Whether a line may be written now (any monotonic clock, milliseconds).  When it may, *left_out is
 * how many lines were left out since the last one. */
bool terse_limit_pass(struct terse_limit *limit, uint64_t now_ms, uint32_t *left_out);

#endif
