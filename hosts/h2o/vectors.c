/* SPDX-License-Identifier: MIT */
/* H2O's send vectors as an input that can be taken piece by piece. */
#include "body.h"

#include <string.h>

static size_t kept_left(const struct body *b)
{
    return b->e->held.pos - b->in.kept;
}

static size_t parts_left(const struct input *in)
{
    size_t len = 0;
    for (size_t i = in->part; i < in->n_parts; i++)
        len += in->parts[i].len;
    return len - in->offset;
}

size_t input_length(const struct body *b)
{
    return kept_left(b) + parts_left(&b->in);
}

terse_str input_next(const struct body *b, size_t limit)
{
    const struct input *in = &b->in;
    terse_str next = {"", 0};
    if (kept_left(b) > 0)
        next = (terse_str){(const char *)b->e->held.ptr + in->kept, kept_left(b)};
    else if (in->part < in->n_parts)
        next = (terse_str){in->parts[in->part].base + in->offset,
                           in->parts[in->part].len - in->offset};
    if (next.len > limit)
        next.len = limit;
    return next;
}

/* n is at most what input_next gave. */
void input_take(struct body *b, size_t n)
{
    struct input *in = &b->in;
    if (kept_left(b) > 0) {
        in->kept += n;
        if (kept_left(b) == 0)
            b->e->held.pos = in->kept = 0;
        return;
    }
    in->offset += n;
    if (in->part < in->n_parts && in->offset == in->parts[in->part].len) {
        in->part++;
        in->offset = 0;
    }
}

/* Room for n bytes more behind those that are kept. */
static bool make_room(struct body *b, size_t n)
{
    const terse_api *api = api_of(b->e->worker);
    terse_pool *pool = b->e->worker->pool;
    terse_out *held = &b->e->held, larger = {NULL, 0, 0};
    if (held->ptr && held->len - held->pos >= n)
        return true;
    size_t wanted = held->pos + n;
    if (wanted < 2 * held->len)
        wanted = 2 * held->len; /* not again for each delivery */
    if (b->mode == BODY_WHOLE && b->declared != UINT64_MAX && wanted < b->declared)
        wanted = (size_t)b->declared;
    if (api->pool_lend(pool, wanted, &larger) < 0)
        return false;
    if (held->pos > 0)
        memcpy(larger.ptr, held->ptr, held->pos);
    larger.pos = held->pos;
    api->pool_return(pool, held->ptr);
    *held = larger;
    return true;
}

/* Moves n bytes of the source's vectors behind those that are kept. */
static bool keep(struct body *b, size_t n)
{
    struct input *in = &b->in;
    terse_out *held = &b->e->held;
    if (n > 0 && !make_room(b, n))
        return false;
    while (n > 0) {
        size_t len = in->parts[in->part].len - in->offset;
        if (len > n)
            len = n;
        memcpy((char *)held->ptr + held->pos, in->parts[in->part].base + in->offset, len);
        held->pos += len;
        n -= len;
        in->offset += len;
        if (in->offset == in->parts[in->part].len) {
            in->part++;
            in->offset = 0;
        }
    }
    return true;
}

/* The array is the sender's and may be gone when the call returns; the bytes stay. */
bool input_deliver(struct body *b, const h2o_iovec_t *bufs, size_t n, size_t *len)
{
    struct input *in = &b->in;
    *len = 0;
    if (!input_keep(b))
        return false;
    if (n > in->room) {
        in->room = n < 4 ? 4 : n;
        in->parts = h2o_mem_alloc_pool(&b->req->pool, in->room * sizeof *in->parts);
    }
    in->part = in->offset = in->n_parts = 0;
    for (size_t i = 0; i < n; i++)
        if (bufs[i].len > 0) {
            in->parts[in->n_parts++] = bufs[i];
            *len += bufs[i].len;
        }
    return true;
}

bool input_join(struct body *b, size_t n, terse_str *bytes)
{
    *bytes = input_next(b, n);
    if (bytes->len == n)
        return true;
    if (!keep(b, n - kept_left(b)))
        return false;
    *bytes = input_next(b, n);
    return bytes->len == n;
}

bool input_keep(struct body *b)
{
    return keep(b, parts_left(&b->in));
}

h2o_iovec_t *input_vectors(struct body *b, size_t *n)
{
    struct input *in = &b->in;
    size_t left = in->n_parts - in->part, kept = kept_left(b);
    h2o_iovec_t *all = h2o_mem_alloc_pool(&b->req->pool, (left + 1) * sizeof *all);
    *n = 0;
    if (kept > 0)
        all[(*n)++] = h2o_iovec_init((char *)b->e->held.ptr + in->kept, kept);
    for (size_t i = in->part; i < in->n_parts; i++)
        all[(*n)++] = in->parts[i];
    if (left > 0 && in->offset > 0) {
        all[kept > 0].base += in->offset;
        all[kept > 0].len -= in->offset;
    }
    input_clear(b);
    return all;
}

void input_clear(struct body *b)
{
    b->e->held.pos = b->in.kept = 0;
    b->in.part = b->in.offset = b->in.n_parts = 0;
}

void input_replace(struct body *b, h2o_iovec_t bytes)
{
    input_clear(b);
    if (b->in.room == 0) {
        b->in.room = 1;
        b->in.parts = h2o_mem_alloc_pool(&b->req->pool, sizeof *b->in.parts);
    }
    b->in.parts[0] = bytes;
    b->in.n_parts = bytes.len > 0;
}
