/* SPDX-License-Identifier: MIT */
/* Trailers of a body that a backend sent in chunks: the server keeps them as they came, behind the
 * line of the last chunk, "0\r\nName: value\r\n\r\n". */
#include "shim.h"

#include <limits.h>
#include <string.h>

void trailers_note(struct exchange *e, const terse_decision *d)
{
    struct dropped *to = &e->dropped;
    for (uint32_t i = 0; i < d->n_edits; i++) {
        const terse_edit *edit = &d->edits[i];
        size_t len = edit->name.len;
        if (edit->side != TERSE_TRAILER || edit->op != TERSE_EDIT_REMOVE || len == 0)
            continue;
        if (len > UCHAR_MAX || len + 1 > sizeof to->names - to->len)
            continue;
        to->names[to->len++] = (char)(unsigned char)len;
        memcpy(to->names + to->len, edit->name.ptr, len);
        to->len += len;
    }
}

static bool is_dropped(const struct dropped *dropped, const char *line, size_t len)
{
    for (size_t at = 0; at < dropped->len; at += 1 + (unsigned char)dropped->names[at]) {
        size_t n = (unsigned char)dropped->names[at];
        if (n < len && line[n] == ':' && buffer_eq_icase_ssn(line, dropped->names + at + 1, n))
            return true;
    }
    return false;
}

static buffer *complete_trailers(const request_st *r)
{
    buffer *b = r->gw_dechunk ? &r->gw_dechunk->b : NULL;
    return b && r->gw_dechunk->done && !buffer_is_blank(b) ? b : NULL;
}

void trailers_edit(request_st *r, const struct exchange *e)
{
    buffer *b = complete_trailers(r);
    if (!b || e->dropped.len == 0)
        return;
    const char *line = b->ptr, *end = b->ptr + buffer_clen(b);
    char *to = b->ptr;
    bool drop = false;
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((newline ? newline + 1 : end) - line);
        if (*line != ' ' && *line != '\t') /* else it goes on with the line before */
            drop = is_dropped(&e->dropped, line, len);
        if (!drop) {
            memmove(to, line, len);
            to += len;
        }
        line += len;
    }
    buffer_truncate(b, (uint32_t)(to - b->ptr));
}

/* With their line ends in them, which HTTP/2 does not allow.  The body would not have been complete
 * had it not been held back. */
void trailers_mend(request_st *r)
{
    buffer *b = complete_trailers(r);
    uint32_t n = 0, len = b ? buffer_clen(b) : 0;
    for (uint32_t i = 0; i < len; i++)
        if (b->ptr[i] != '\r')
            b->ptr[n++] = b->ptr[i];
    if (len)
        buffer_truncate(b, n);
}
