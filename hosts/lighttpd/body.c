/* SPDX-License-Identifier: MIT */
/* The bytes of a response body: memory and files, in any mixture.  Files are read, never mapped
 * (ABI.md A14): one that shrinks meanwhile is an error, not a signal. */
#include "shim.h"

#include <fcntl.h>
#include <string.h>

#include "read_range.h"

#define PART 131072 /* a coded body is queued in parts of that size */

static size_t chunk_left(const chunk *c)
{
    off_t end = c->type == MEM_CHUNK ? (off_t)buffer_clen(c->mem) : c->file.length;
    return end > c->offset ? (size_t)(end - c->offset) : 0;
}

static bool read_file(request_st *r, chunk *c, void *to, size_t len)
{
    if (c->file.fd < 0)
        c->file.fd = fdevent_open_cloexec(c->mem->ptr, r->conf.follow_symlink, O_RDONLY, 0);
    return c->file.fd >= 0 && terse_read_range(c->file.fd, c->offset, to, len) == 0;
}

static bool read_chunk(request_st *r, chunk *c, void *to, size_t len)
{
    if (c->type == FILE_CHUNK)
        return read_file(r, c, to, len);
    memcpy(to, c->mem->ptr + c->offset, len);
    return true;
}

bool body_front(request_st *r, const chunkqueue *q, size_t limit, const terse_out *buf,
                terse_str *bytes)
{
    chunk *c = q->first;
    *bytes = (terse_str){"", 0};
    while (c && chunk_left(c) == 0)
        c = c->next;
    if (!c)
        return true;
    bytes->len = chunk_left(c) < limit ? chunk_left(c) : limit;
    if (c->type == MEM_CHUNK) {
        bytes->ptr = c->mem->ptr + c->offset;
        return true;
    }
    if (bytes->len > buf->len)
        bytes->len = buf->len;
    bytes->ptr = buf->ptr;
    return read_file(r, c, buf->ptr, bytes->len);
}

static bool gather(request_st *r, char *to, size_t len)
{
    for (chunk *c = r->write_queue.first; c && len > 0; c = c->next) {
        size_t n = chunk_left(c) < len ? chunk_left(c) : len;
        if (n > 0 && !read_chunk(r, c, to, n))
            return false;
        to += n;
        len -= n;
    }
    return len == 0;
}

static bool borrow(struct turn *t, size_t len)
{
    const terse_api *api = api_of(t->s);
    api->pool_return(t->s->pool, t->lent.ptr);
    t->lent = (terse_out){NULL, 0, 0};
    if (api->pool_lend(t->s->pool, len, &t->lent) >= 0)
        return true;
    t->lent.ptr = NULL;
    return false;
}

bool body_peek(struct turn *t, size_t len, terse_str *bytes)
{
    chunkqueue_remove_finished_chunks(&t->r->write_queue);
    const chunk *first = t->r->write_queue.first;
    *bytes = (terse_str){"", 0};
    if (len == 0 || !first)
        return len == 0;
    if (first->type == MEM_CHUNK && chunk_left(first) >= len) {
        *bytes = (terse_str){first->mem->ptr + first->offset, len};
        return true;
    }
    if (!borrow(t, len) || !gather(t->r, t->lent.ptr, len))
        return false;
    *bytes = (terse_str){t->lent.ptr, len};
    return true;
}

/* The queue's counters tell the access log what was sent: they are left as if the body had never
 * been in it. */
void body_drop(request_st *r)
{
    chunkqueue *q = &r->write_queue;
    off_t len = chunkqueue_length(q);
    chunkqueue_mark_written(q, len);
    q->bytes_in -= len;
    q->bytes_out -= len;
}

void body_replace(request_st *r, terse_str bytes)
{
    body_drop(r);
    for (size_t n; bytes.len > 0; bytes.ptr += n, bytes.len -= n) {
        n = bytes.len < PART ? bytes.len : PART;
        chunkqueue_append_mem(&r->write_queue, bytes.ptr, n);
    }
}

void body_whole(struct turn *t)
{
    terse_str body, coded = {NULL, 0};
    size_t len = (size_t)chunkqueue_length(&t->r->write_queue);
    if (!body_peek(t, len, &body)) {
        complain(t->s, t->r, "its body cannot be read, sent as it is");
        turn_give_up(t);
        return;
    }
    uint64_t begin = terse_call_begins(body.len);
    terse_status status =
        api_of(t->s)->encode_whole(t->e->x, &t->facts, body, &coded, &t->decision);
    terse_call_ends(&t->s->calls, begin);
    if (status < 0) {
        complain(t->s, t->r, "not coded (status %d), sent as it is", (int)status);
        notes_decision(t->r, NULL, NULL);
        return;
    }
    if (t->decision.coding) {
        body_replace(t->r, coded);
        t->decision.length = (int64_t)coded.len;
        notes_ratio(t->r, len, coded.len);
    }
    turn_apply(t);
}
