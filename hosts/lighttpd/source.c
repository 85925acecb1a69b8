/* SPDX-License-Identifier: MIT */
/* Bodies that come in parts.  The module that makes them (the inner handler: a gateway, CGI) reads
 * its backend inside its own handle_subrequest and puts what came into the queue that the server
 * sends from.  This module stands in between: while the inner handler runs, everything is as if it
 * were alone, but the queue is another one.
 *
 * It does so before the response begins as well, for headers that are on their way cannot be
 * changed: what the plugin would see first is waited for then. */
#include "shim.h"

#include <string.h>

#define STREAMING (FDEVENT_STREAM_RESPONSE | FDEVENT_STREAM_RESPONSE_BUFMIN)

/* ---- who is between, and for whom --------------------------------------------------------- */

static void link_live(struct shim *s, struct exchange *e, request_st *r)
{
    struct source *src = &e->source;
    src->r = r;
    src->next = s->live;
    src->previous = NULL;
    if (src->next)
        src->next->source.previous = e;
    s->live = e;
}

void source_forget(struct shim *s, struct exchange *e)
{
    struct source *src = &e->source;
    timer_stop(&s->timers, &e->timer);
    if (!src->inner)
        return;
    if (src->next)
        src->next->source.previous = src->previous;
    *(src->previous ? &src->previous->source.next : &s->live) = src->next;
    src->r->conf.stream_response_body |= src->hidden;
    src->hidden = 0;
    src->inner = NULL;
}

static bool has_context(const request_st *r, server_handler *inner)
{
    return r->plugin_ctx[server_handler_id(inner)] != NULL;
}

static void stand_between(struct shim *s, request_st *r, struct exchange *e)
{
    e->source = (struct source){.inner = r->handler_module, .streams = true};
    e->source.context = has_context(r, r->handler_module);
    link_live(s, e, r);
    server_hand_over(r, s);
}

/* HEAD has no body; what is no HTTP any more is not looked into. */
bool source_usable(const request_st *r)
{
    return r->handler_module && r->http_method != HTTP_METHOD_HEAD &&
           r->http_method != HTTP_METHOD_CONNECT && !server_is_tunnel(r) &&
           r->reqbody_length >= -1 && !light_btst(r->resp_htags, HTTP_HEADER_UPGRADE);
}

/* A request may come here again: an error page, a local redirect. */
void source_guard(struct shim *s, request_st *r)
{
    struct exchange *e = r->plugin_ctx[s->id];
    if (!e || server_is_handler(r, s))
        return;
    source_forget(s, e);
    e->source = (struct source){.inner = NULL};
    if (!e->off && (r->conf.stream_response_body & STREAMING) && source_usable(r) &&
        !light_btst(r->rqst_htags, HTTP_HEADER_UPGRADE))
        stand_between(s, r, e);
}

/* ---- before the response has begun -------------------------------------------------------- */

/* A time-out closed the backend while the server looked at its timers: what the inner handler would
 * have done to the request had it been in its place. */
static handler_t end_unattended(struct shim *s, request_st *r, struct exchange *e)
{
    r->handler_module = e->source.broken ? NULL : e->source.inner;
    source_forget(s, e);
    if (!e->source.broken) {
        if (!r->resp_body_started && r->http_status == 0)
            r->http_status = 504;
        http_response_backend_done(r);
    }
    return HANDLER_FINISHED;
}

/* The inner handler is through, or has given up: the server has the request back. */
static void step_back(struct shim *s, request_st *r, struct exchange *e)
{
    e->source.broken = r->resp_body_started && r->resp_body_finished && !r->handler_module;
    if (e->source.held && r->resp_body_finished)
        trailers_mend(r);
    source_forget(s, e);
}

/* Whether the response is to be held back for longer. */
static bool hold(struct shim *s, request_st *r, struct exchange *e)
{
    struct source *src = &e->source;
    if (!src->held) {
        uint32_t hold_ms;
        src->need = exchange_foresee(s, r, e, &hold_ms);
        src->held = src->need > 0;
        if (src->held && hold_ms)
            timer_set(&s->timers, &e->timer, r, timer_now() + hold_ms);
    }
    return (uint64_t)chunkqueue_length(&r->write_queue) < src->need && !e->timer.due;
}

/* The server starts a response that has begun unless it is told that nothing streams. */
static handler_t keep_back(struct shim *s, request_st *r, struct exchange *e)
{
    server_hand_over(r, s);
    e->source.hidden |= r->conf.stream_response_body & STREAMING;
    r->conf.stream_response_body &= (unsigned short)~STREAMING;
    return HANDLER_WAIT_FOR_EVENT;
}

/* While held the queue does not drain, and the inner handler must not wait for that. */
static handler_t call_held(request_st *r, struct exchange *e)
{
    r->conf.stream_response_body |=
        e->source.hidden & (unsigned short)~FDEVENT_STREAM_RESPONSE_BUFMIN;
    r->handler_module = e->source.inner;
    return server_call(e->source.inner, r);
}

handler_t source_await(struct shim *s, request_st *r, struct exchange *e)
{
    server_handler *inner = e->source.inner;
    if (e->source.broken || (e->source.context && !has_context(r, inner)))
        return end_unattended(s, r, e);
    handler_t rc = call_held(r, e);
    if (r->plugin_ctx[s->id] != e || e->source.inner != inner)
        return rc; /* the request was reset meanwhile */
    if (r->handler_module == inner && rc == HANDLER_WAIT_FOR_EVENT && !r->resp_body_finished) {
        if (!r->resp_body_started) {
            server_hand_over(r, s);
            return rc;
        }
        if ((r->conf.stream_response_body & STREAMING) && hold(s, r, e))
            return keep_back(s, r, e);
    }
    step_back(s, r, e);
    return rc;
}

/* ---- while it is coded -------------------------------------------------------------------- */

void source_start(struct turn *t)
{
    request_st *r = t->r;
    stand_between(t->s, r, t->e);
    t->e->source.chunked = r->resp_decode_chunked;
    r->resp_decode_chunked = 0;
    /* the server would put its 100 Continue into the queue of the moment */
    http_header_request_unset(r, HTTP_HEADER_EXPECT, CONST_STR_LEN("Expect"));
}

static void swap(chunkqueue *a, chunkqueue *b)
{
    chunkqueue c = *a;
    *a = *b;
    *b = c;
}

/* Lets the inner handler run, in the world that it knows. */
static handler_t call_inner(request_st *r, struct exchange *e)
{
    connection *con = r->con;
    signed char send_chunked = r->resp_send_chunked, writable = (signed char)con->is_writable;
    swap(&r->write_queue, &e->body);
    r->resp_send_chunked = 0;
    r->resp_decode_chunked = e->source.chunked;
    r->handler_module = e->source.inner;
    con->is_writable = 1; /* or it may keep a short read to itself, until more comes */
    handler_t rc = server_call(e->source.inner, r);
    if (con->is_writable == 1)
        con->is_writable = writable;
    swap(&r->write_queue, &e->body);
    r->resp_send_chunked = send_chunked;
    r->resp_decode_chunked = 0;
    return rc;
}

static bool is_short(const request_st *r, const struct source *src)
{
    return src->chunked ? !r->gw_dechunk || !r->gw_dechunk->done : r->resp_body_scratchpad > 0;
}

int32_t source_pull(struct shim *s, request_st *r, struct exchange *e)
{
    struct source *src = &e->source;
    if (src->broken || (src->context && !has_context(r, src->inner)))
        return TERSE_SOURCE_BROKE;
    handler_t rc = call_inner(r, e);
    bool lost = r->handler_module != src->inner || rc == HANDLER_ERROR || rc == HANDLER_COMEBACK;
    src->ended = r->resp_body_finished || rc == HANDLER_FINISHED;
    r->resp_body_finished = 0;
    if (src->ended)
        trailers_edit(r, e);
    server_hand_over(r, s);
    return lost || (src->ended && is_short(r, src)) ? TERSE_SOURCE_BROKE : TERSE_DONE;
}

/* What follows the last byte, as the inner handler's source had it. */
void source_close(request_st *r)
{
    if (!r->resp_send_chunked)
        return;
    if (r->gw_dechunk && !buffer_is_blank(&r->gw_dechunk->b))
        chunkqueue_append_mem(&r->write_queue, BUF_PTR_LEN(&r->gw_dechunk->b));
    else
        chunkqueue_append_mem(&r->write_queue, CONST_STR_LEN("0\r\n\r\n"));
}

/* A backend that is late is given up in its module's own timer, which takes the request for its
 * own and says that the body is finished: over HTTP/2 that would be a good end. */
void source_trigger(struct shim *s)
{
    for (struct exchange *e = s->live; e; e = e->source.next) {
        request_st *r = e->source.r;
        if (r->handler_module || !r->resp_body_started || !r->resp_body_finished)
            continue;
        e->source.broken = true;
        if (e->stream)
            r->resp_body_finished = 0;
        server_hand_over(r, s);
        joblist_append(r->con);
    }
}
