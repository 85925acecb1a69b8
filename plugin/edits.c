/* SPDX-License-Identifier: MIT */
#include "edits.h"

#include <string.h>

void edits_clear(struct edits *e)
{
    e->count = 0;
    e->used = 0;
}

bool edits_put(struct edits *e, int32_t op, int32_t side, terse_str name, terse_str value)
{
    if (e->count == EDITS_MAX)
        return false;
    e->list[e->count++] = (terse_edit){op, side, name, value};
    return true;
}

bool edits_join(struct edits *e, const terse_str *pieces, size_t n, terse_str *joined)
{
    size_t room = EDITS_BYTES - e->used;
    char *at = e->bytes + e->used;

    *joined = (terse_str){at, 0};
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].len > room - joined->len)
            return false;
        if (pieces[i].len)
            memcpy(at + joined->len, pieces[i].ptr, pieces[i].len);
        joined->len += pieces[i].len;
    }
    e->used += (uint32_t)joined->len;
    return true;
}
