/* SPDX-License-Identifier: MIT */
/* One exchange as the host shows it: its facts, and its headers through the host's callback. */
#ifndef TERSE_VIEW_H
#define TERSE_VIEW_H

#include <string.h>

#include <terse.h>
#include "text.h"

/* A bound on lines of one name, against a host that never says "no more". */
#define VIEW_LINES_MAX 64

static inline bool view_line(const terse_facts *f, int32_t side, const char *name, size_t len,
                             uint32_t nth, terse_str *value)
{
    *value = (terse_str){"", 0};
    return nth < VIEW_LINES_MAX && f->header(f->header_ctx, side, name, len, nth, value) == 1;
}

/* VIEW_LINE(facts, TERSE_RESPONSE, "vary", 0, &value) */
#define VIEW_LINE(f, side, literal, nth, value)                                                    \
    view_line(f, side, literal, sizeof(literal) - 1, nth, value)

static inline bool view_has(const terse_facts *f, int32_t side, const char *name, size_t len)
{
    terse_str value;

    return view_line(f, side, name, len, 0, &value);
}
#define VIEW_HAS(f, side, literal) view_has(f, side, literal, sizeof(literal) - 1)

/* A method that asks for a representation and nothing else. */
static inline bool view_is_read(const terse_facts *f)
{
    return (f->method.len == 3 && !memcmp(f->method.ptr, "GET", 3)) ||
           (f->method.len == 4 && !memcmp(f->method.ptr, "HEAD", 4));
}

/* Whether any line of a list header has the token. */
static inline bool view_has_token(const terse_facts *f, int32_t side, terse_str name,
                                  terse_str token)
{
    terse_str value;

    for (uint32_t nth = 0; view_line(f, side, name.ptr, name.len, nth, &value); nth++)
        if (text_list_has(value, token.ptr, token.len))
            return true;
    return false;
}

#endif
