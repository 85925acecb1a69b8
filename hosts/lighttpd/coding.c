/* SPDX-License-Identifier: MIT */
/* Bytes of a body through the codec, into the queue that the server sends from. */
#include "shim.h"

#include <stdio.h>
#include <string.h>

#define READ_SIZE 65536
/* Output goes into the queue in blocks that fit the server's own buffers, framing included. */
#define BLOCK_SIZE 8191
#define BLOCK_HEAD 8 /* "1fff\r\n" and then some */
#define BLOCK_TAIL 2
#define BLOCK_ROOM (BLOCK_SIZE - BLOCK_HEAD - BLOCK_TAIL)
#define OUTPUT_MAX 262144 /* of one piece, however much more it would give */
#define IDLE_MAX 100000   /* calls that neither take nor give: there will be no other */

/* Every turn needs the same two: one that had none in the middle of a body would have to break it.
 */
bool coding_prepare(struct shim *s)
{
    const terse_api *api = api_of(s);
    return api->pool_lend(s->pool, READ_SIZE, &s->in) >= 0 &&
           api->pool_lend(s->pool, BLOCK_SIZE, &s->block) >= 0;
}

void coding_free(struct shim *s)
{
    api_of(s)->pool_return(s->pool, s->in.ptr);
    api_of(s)->pool_return(s->pool, s->block.ptr);
}

bool coding_open(struct turn *t)
{
    const char *coding = t->decision.coding;
    terse_spec spec = {
        .struct_size = sizeof spec,
        .direction = TERSE_ENCODE,
        .policy = t->e->policy,
        .exchange = t->e->x,
        .coding = {coding, coding ? strlen(coding) : 0},
        .length = t->facts.length,
    };
    if (api_of(t->s)->stream_open(t->s->pool, &spec, &t->e->stream) >= 0)
        return true;
    t->e->stream = NULL;
    return false;
}

/* Queues the n coded bytes of the block, in a chunk of their own where the server sends chunks. */
static void send_block(struct work *w, size_t n)
{
    char *data = (char *)w->s->block.ptr + BLOCK_HEAD;
    if (n == 0)
        return; /* a chunk of no bytes would end the body */
    w->e->bytes_out += n;
    if (!w->r->resp_send_chunked) {
        chunkqueue_append_mem(&w->r->write_queue, data, n);
        return;
    }
    char head[BLOCK_HEAD + 1];
    size_t len = (size_t)snprintf(head, sizeof head, "%zx\r\n", n);
    memcpy(data - len, head, len);
    memcpy(data + n, "\r\n", BLOCK_TAIL);
    chunkqueue_append_mem(&w->r->write_queue, data - len, len + n + BLOCK_TAIL);
}

/* Codes bytes to the last one, and completes the operation: OK, or END after FINISH.  MORE: not yet,
 * for it is others' turn.  Or an error. */
static terse_status code(struct work *w, terse_str bytes, int32_t operation, size_t *taken)
{
    terse_in in = {bytes.ptr, bytes.len, 0};
    uint64_t most = w->e->bytes_out + OUTPUT_MAX;
    for (;;) {
        terse_out out = {(char *)w->s->block.ptr + BLOCK_HEAD, BLOCK_ROOM, 0};
        terse_report report = {.struct_size = sizeof report};
        size_t before = in.pos;
        uint64_t begin =
            terse_call_begins(operation == TERSE_FINISH ? TERSE_CALL_ALWAYS : in.len - before);
        terse_status status = api_of(w->s)->stream_run(w->e->stream, operation, &in, &out, &report);
        terse_call_ends(&w->s->calls, begin);
        if (status < 0)
            return status;
        send_block(w, out.pos);
        w->e->flush_ms = report.flush_ms;
        *taken = in.pos;
        if (status != TERSE_MORE && (status == TERSE_END || operation != TERSE_FINISH) &&
            in.pos == in.len)
            return status;
        w->e->idle = in.pos == before && out.pos == 0 ? w->e->idle + 1 : 0;
        if (w->e->idle > IDLE_MAX)
            return TERSE_E_BROKEN;
        if (w->e->idle || w->e->bytes_out >= most)
            return TERSE_MORE;
    }
}

static int32_t failed(struct work *w, terse_status status)
{
    complain(w->s, w->r, "coding failed midway (status %d), cut off", (int)status);
    return status == TERSE_E_DATA ? TERSE_SOURCE_BROKE : TERSE_ABORTED;
}

int32_t coding_piece(struct work *w, size_t most, size_t *taken)
{
    chunkqueue *q = &w->e->body;
    terse_str bytes;
    if (!body_front(w->r, q, most < READ_SIZE ? most : READ_SIZE, &w->s->in, &bytes)) {
        complain(w->s, w->r, "its body cannot be read to the length that it had, cut off");
        return TERSE_SOURCE_BROKE;
    }
    bool last = w->whole && (off_t)bytes.len == chunkqueue_length(q);
    if (bytes.len == 0 && !last && !w->e->more)
        return TERSE_SOURCE_BROKE;
    terse_status status = code(w, bytes, last ? TERSE_FINISH : TERSE_RUN, taken);
    w->e->more = status == TERSE_MORE;
    if (status < 0 || (!w->e->more && last != (status == TERSE_END)))
        return failed(w, status);
    chunkqueue_mark_written(q, (off_t)*taken);
    w->e->bytes_in += *taken;
    w->end = status == TERSE_END;
    return TERSE_DONE;
}

int32_t coding_flush(struct work *w)
{
    size_t taken;
    terse_status status;
    do
        status = code(w, (terse_str){"", 0}, TERSE_FLUSH, &taken);
    while (status == TERSE_MORE);
    return status < 0 ? failed(w, status) : TERSE_DONE;
}
