/* SPDX-License-Identifier: MIT */
/* Bodies that are coded piece by piece, so that one of them never holds up the others: the body
 * waits in a queue of ours, and each turn of the server's loop codes a piece of it into the queue
 * that the server sends from. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define QUEUE_ENOUGH 65536 /* as long as so much waits to be sent, nothing is coded */
#define TURN_MAX 262144    /* most input of one turn, whatever the plugin allows */
#define READ_SIZE 65536
/* Output goes into the queue in blocks that fit the server's own buffers, framing included. */
#define BLOCK_SIZE 8191
#define BLOCK_HEAD 8 /* "1fff\r\n" and then some */
#define BLOCK_TAIL 2

/* Every turn needs the same two: one that had none in the middle of a body would have to break it.
 */
bool slices_prepare(struct shim *s)
{
    const terse_api *api = api_of(s);
    return api->pool_lend(s->pool, READ_SIZE, &s->in) >= 0 &&
           api->pool_lend(s->pool, BLOCK_SIZE, &s->block) >= 0;
}

void slices_free(struct shim *s)
{
    api_of(s)->pool_return(s->pool, s->in.ptr);
    api_of(s)->pool_return(s->pool, s->block.ptr);
}

/* ---- start -------------------------------------------------------------------------------- */

static bool open_stream(struct turn *t)
{
    terse_spec spec = {
        .struct_size = sizeof spec,
        .direction = TERSE_ENCODE,
        .policy = t->e->policy,
        .exchange = t->e->x,
        .coding = {t->decision.coding, strlen(t->decision.coding)},
        .length = t->facts.length,
    };
    if (api_of(t->s)->stream_open(t->s->pool, &spec, &t->e->stream) >= 0)
        return true;
    t->e->stream = NULL;
    return false;
}

/* A body that a backend sent in chunks: what is known of them is of no use any more. */
static void forget_chunks(request_st *r)
{
    r->resp_decode_chunked = 0;
    if (!r->gw_dechunk)
        return;
    free(r->gw_dechunk->b.ptr);
    free(r->gw_dechunk);
    r->gw_dechunk = NULL;
}

/* Takes the body over, its response with it. */
static void take_body(struct turn *t)
{
    request_st *r = t->r;
    chunkqueue *q = &r->write_queue;
    off_t len = chunkqueue_length(q);
    chunkqueue_append_chunkqueue(&t->e->body, q);
    q->bytes_in -= len; /* as if it had never been there */
    q->bytes_out -= len;
    forget_chunks(r);
    r->resp_body_finished = 0;
    r->conf.stream_response_body |= FDEVENT_STREAM_RESPONSE; /* HTTP/2 holds DATA back else */
    server_hand_over(r, t->s);
}

void slices_start(struct turn *t)
{
    struct kept_edits kept;
    if (!t->decision.coding || !headers_keep(&kept, &t->decision) || !open_stream(t)) {
        complain(t->s, t->r, "no encoder, sent as it is");
        turn_give_up(t);
        return;
    }
    t->decision.length = TERSE_LENGTH_UNKNOWN;
    t->e->piece = t->decision.piece;
    turn_apply(t);
    take_body(t);
}

/* ---- one turn ----------------------------------------------------------------------------- */

struct work {
    struct shim *s;
    request_st *r;
    struct exchange *e;
    bool end; /* the coded body is complete */
};

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

/* Codes bytes to the last one; with last, up to the end of the coded body. */
static terse_status code(struct work *w, terse_str bytes, bool last)
{
    const size_t room = BLOCK_SIZE - BLOCK_HEAD - BLOCK_TAIL;
    terse_in in = {bytes.ptr, bytes.len, 0};
    int32_t operation = last ? TERSE_FINISH : TERSE_RUN;
    for (;;) {
        terse_out out = {(char *)w->s->block.ptr + BLOCK_HEAD, room, 0};
        size_t before = in.pos;
        terse_status status = api_of(w->s)->stream_run(w->e->stream, operation, &in, &out, NULL);
        if (status < 0)
            return status;
        send_block(w, out.pos);
        if (status == TERSE_END || (status != TERSE_MORE && !last && in.pos == in.len))
            return status;
        if (in.pos == before && out.pos == 0)
            return TERSE_E_BROKEN; /* neither took nor gave: it would do so for ever */
    }
}

/* 0: go on; TERSE_SOURCE_BROKE or TERSE_ABORTED: this body cannot be finished. */
static int32_t code_piece(struct work *w, size_t most, size_t *taken)
{
    chunkqueue *q = &w->e->body;
    terse_str bytes;
    if (!body_front(w->r, q, most, &w->s->in, &bytes)) {
        complain(w->s, w->r, "its file cannot be read to the length that it had, cut off");
        return TERSE_SOURCE_BROKE;
    }
    bool last = (off_t)bytes.len == chunkqueue_length(q);
    if (bytes.len == 0 && !last)
        return TERSE_SOURCE_BROKE;
    terse_status status = code(w, bytes, last);
    if (status < 0 || last != (status == TERSE_END)) {
        complain(w->s, w->r, "coding failed midway (status %d), cut off", (int)status);
        return TERSE_ABORTED;
    }
    chunkqueue_mark_written(q, (off_t)bytes.len);
    w->e->bytes_in += bytes.len;
    w->end = last;
    *taken = bytes.len;
    return TERSE_DONE;
}

static int32_t code_turn(struct work *w)
{
    uint64_t left = w->e->piece && w->e->piece < TURN_MAX ? w->e->piece : TURN_MAX;
    while (!w->end && left > 0 && chunkqueue_length(&w->r->write_queue) < QUEUE_ENOUGH) {
        size_t taken = 0;
        int32_t broken = code_piece(w, left < READ_SIZE ? (size_t)left : READ_SIZE, &taken);
        if (broken != TERSE_DONE)
            return broken;
        left -= taken;
    }
    return TERSE_DONE;
}

/* The end of the connection is the end of a body without chunks and length: only a reset shows that
 * it was cut (RFC 9112 section 8).  HTTP/1.1 and 2 have better ways, and the server takes them. */
static void reset_connection(const request_st *r)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    if (r->http_version <= HTTP_VERSION_1_1 && !r->resp_send_chunked)
        (void)connect(r->con->fd, &none, sizeof none);
}

static handler_t cut_off(struct work *w, int32_t how)
{
    exchange_over(w->s, w->r, w->e, how);
    reset_connection(w->r);
    return HANDLER_ERROR;
}

static handler_t finish(struct work *w)
{
    api_of(w->s)->stream_free(w->e->stream); /* long before a slow client has read it all */
    w->e->stream = NULL;
    notes_ratio(w->r, w->e->bytes_in, w->e->bytes_out);
    w->r->resp_body_finished = 1;
    http_chunk_close(w->r);
    return HANDLER_GO_ON;
}

/* Sees to it that the next turn comes, but after everybody else's. */
static void ask_for_turn(request_st *r)
{
    off_t queued = chunkqueue_length(&r->write_queue);
    if (r->http_version <= HTTP_VERSION_1_1 && queued > 0)
        /* the server would send and call again in a loop of its own; now it asks the socket first,
         * as it does with all the others */
        r->con->is_writable = 0;
    else if (queued < QUEUE_ENOUGH)
        joblist_append(r->con);
    /* else it comes when some of that has been sent */
}

/* A turn may have been asked for just before the write that found the client gone.  The server frees
 * closed connections once a minute, before it looks at those whose turn it is. */
void slices_forget(connection *con)
{
    const connection *end = (connection *)(uintptr_t)&log_con_jqueue;
    if (!con->jqnext)
        return;
    for (connection **at = &log_con_jqueue; *at && *at != end; at = &(*at)->jqnext)
        if (*at == con) {
            *at = con->jqnext;
            con->jqnext = NULL;
            return;
        }
}

handler_t slices_run(struct shim *s, request_st *r)
{
    struct work w = {.s = s, .r = r, .e = r->plugin_ctx[s->id]};
    if (!w.e || !w.e->stream)
        return HANDLER_ERROR;
    if (chunkqueue_length(&r->write_queue) >= QUEUE_ENOUGH)
        return HANDLER_WAIT_FOR_EVENT;
    int32_t broken = code_turn(&w);
    if (broken != TERSE_DONE)
        return cut_off(&w, broken);
    if (w.end)
        return finish(&w);
    ask_for_turn(r);
    return HANDLER_GO_ON;
}
