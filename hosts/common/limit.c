/* SPDX-License-Identifier: MIT */
#include "limit.h"

#define INTERVAL_MS 1000

bool terse_limit_pass(struct terse_limit *limit, uint64_t now_ms, uint32_t *left_out)
{
    /* a clock that went back wraps to a long time: better a line too many than silence */
    if (limit->used && now_ms - limit->last_ms < INTERVAL_MS) {
        if (limit->left_out < UINT32_MAX)
            limit->left_out++;
        return false;
    }
    *left_out = limit->left_out;
    limit->used = 1;
    limit->last_ms = now_ms;
    limit->left_out = 0;
    return true;
}
