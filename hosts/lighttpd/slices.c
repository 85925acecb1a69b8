/* SPDX-License-Identifier: MIT */
/* Bodies that are coded piece by piece, so that one of them never holds up the others: what is
 * there of the body waits in a queue of ours, and each turn of the server's loop codes a piece of
 * it into the queue that the server sends from.  The body is complete, or it has a source. */
#include "shim.h"

#include <stdlib.h>
#include <sys/socket.h>

#define QUEUE_ENOUGH 65536 /* as long as so much waits to be sent, nothing is coded */
#define TURN_MAX 262144    /* most input of one turn, whatever the plugin allows */
#define STALE_FACTOR 5     /* a source that never pauses is flushed after so many delays */

/* ---- start -------------------------------------------------------------------------------- */

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

static void own_response(struct turn *t)
{
    request_st *r = t->r;
    forget_chunks(r);
    r->resp_body_finished = 0;
    r->conf.stream_response_body |= FDEVENT_STREAM_RESPONSE; /* HTTP/2 holds DATA back else */
    server_hand_over(r, t->s);
}

/* Takes the body over, its response with it. */
static void take_body(struct turn *t)
{
    chunkqueue *q = &t->r->write_queue;
    off_t len = chunkqueue_length(q);
    chunkqueue_append_chunkqueue(&t->e->body, q);
    q->bytes_in -= len; /* as if it had never been there */
    q->bytes_out -= len;
    if (t->r->resp_body_finished)
        own_response(t);
    else
        source_start(t);
}

void slices_start(struct turn *t)
{
    struct kept_edits kept;
    if (!headers_keep(&kept, &t->decision) || !coding_open(t)) {
        complain(t->s, t->r, "no encoder, sent as it is");
        turn_give_up(t);
        return;
    }
    t->decision.length = TERSE_LENGTH_UNKNOWN;
    trailers_note(t->e, &t->decision);
    t->e->piece = t->decision.piece;
    t->e->paused = t->paused;
    t->e->timer.due = false;
    turn_apply(t);
    take_body(t);
}

void slices_break(struct turn *t)
{
    turn_give_up(t);
    own_response(t);
    t->r->keep_alive = 0;
    t->e->source.broken = true;
}

/* ---- one turn ----------------------------------------------------------------------------- */

static int32_t code_turn(struct work *w)
{
    uint64_t left = w->e->piece && w->e->piece < TURN_MAX ? w->e->piece : TURN_MAX;
    while (!w->end && left > 0 && chunkqueue_length(&w->r->write_queue) < QUEUE_ENOUGH &&
           (w->whole || w->e->more || chunkqueue_length(&w->e->body) > 0)) {
        size_t taken = 0;
        int32_t broken = coding_piece(w, (size_t)left, &taken);
        if (broken != TERSE_DONE)
            return broken;
        left -= taken;
        w->taken += taken;
        if (w->e->more) /* it gave a turn's share, or nothing */
            break;
    }
    return TERSE_DONE;
}

/* All that came is in the codec: when its source pauses it is to leave, and sooner or later in any
 * case. */
static int32_t flush_turn(struct work *w)
{
    struct exchange *e = w->e;
    uint64_t now = timer_now();
    bool due = e->paused || (e->timer.due && !w->taken) || (e->stale_at && now >= e->stale_at);
    e->paused = false;
    if (due && e->flush_ms) {
        int32_t broken = coding_flush(w);
        if (broken != TERSE_DONE)
            return broken;
    }
    if (!e->flush_ms) {
        e->stale_at = 0;
        timer_stop(&w->s->timers, &e->timer);
        return TERSE_DONE;
    }
    if (!e->stale_at)
        e->stale_at = now + (uint64_t)STALE_FACTOR * e->flush_ms;
    if (w->taken || due || !e->timer.at) {
        uint64_t at = now + e->flush_ms;
        timer_set(&w->s->timers, &e->timer, w->r, at < e->stale_at ? at : e->stale_at);
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
    source_forget(w->s, w->e);
    exchange_over(w->s, w->r, w->e, how);
    reset_connection(w->r);
    return HANDLER_ERROR;
}

static handler_t finish(struct work *w)
{
    api_of(w->s)->stream_free(w->e->stream); /* long before a slow client has read it all */
    w->e->stream = NULL;
    source_forget(w->s, w->e);
    notes_ratio(w->r, w->e->bytes_in, w->e->bytes_out);
    w->r->resp_body_finished = 1;
    source_close(w->r);
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

/* Codes what there is.  A source with little in its queue is called again after a part was taken
 * from there: it may have stopped to read because of it. */
static handler_t code_or_wait(struct work *w)
{
    request_st *r = w->r;
    if (chunkqueue_length(&r->write_queue) >= QUEUE_ENOUGH)
        return HANDLER_WAIT_FOR_EVENT;
    int32_t broken = code_turn(w);
    bool rest = chunkqueue_length(&w->e->body) > 0 || w->whole || w->e->more;
    if (broken == TERSE_DONE && !w->end && !rest)
        broken = flush_turn(w);
    if (broken != TERSE_DONE)
        return cut_off(w, broken);
    if (w->end)
        return finish(w);
    if (rest || (w->taken && (r->conf.stream_response_body & FDEVENT_STREAM_RESPONSE_BUFMIN)))
        ask_for_turn(r);
    return HANDLER_WAIT_FOR_EVENT;
}

handler_t slices_run(struct shim *s, request_st *r)
{
    struct work w = {.s = s, .r = r, .e = r->plugin_ctx[s->id]};
    struct source *src = w.e ? &w.e->source : NULL;
    if (!w.e)
        return HANDLER_ERROR;
    if (w.e->request != REQUEST_PLAIN)
        return request_run(s, r, w.e);
    if (!w.e->stream && src->inner)
        return source_await(s, r, w.e);
    if (!w.e->stream)
        return src->broken ? cut_off(&w, TERSE_SOURCE_BROKE) : HANDLER_ERROR;
    if (src->inner && !src->ended) {
        int32_t broken = source_pull(s, r, w.e);
        if (broken != TERSE_DONE)
            return cut_off(&w, broken);
    }
    w.whole = !src->inner || src->ended;
    return code_or_wait(&w);
}
