/* SPDX-License-Identifier: MIT */
/* A request whose body the plugin decodes before its handler is chosen: the module owns it until the
 * body is complete, puts the decoded one in its place, and has the server start anew. */
#include "shim.h"

#include <string.h>

#define PIECE 65536       /* most of the body that one call is shown */
#define ROOM 262144       /* for as much as one call gives: a short body is decoded in one */
#define TURN_MAX 262144   /* decoded bytes of one turn of the server's loop */
#define CALLS_MAX 8       /* of one turn */
#define MEMORY_MAX 262144 /* longer bodies go to temporary files: dearer than to decode them */
#define HOST_FAILS INT32_MIN

void request_take(struct turn *t)
{
    request_st *r = t->r;
    r->conf.stream_request_body &=
        (unsigned short)~(FDEVENT_STREAM_REQUEST | FDEVENT_STREAM_REQUEST_BUFMIN);
    t->e->waiting = r->handler_module;
    server_hand_over(r, t->s);
    t->e->request = REQUEST_AWAITED;
}

void request_drop(struct exchange *e)
{
    if (e->request == REQUEST_PLAIN)
        return;
    e->request = REQUEST_PLAIN;
    e->stream = NULL; /* the plugin takes it back */
    chunkqueue_reset(&e->body);
}

static bool keep(request_st *r, chunkqueue *q, const char *bytes, size_t len)
{
    if (chunkqueue_length(q) + (off_t)len > MEMORY_MAX)
        return chunkqueue_append_mem_to_tempfile(q, bytes, len, r->conf.errh) == 0;
    chunkqueue_append_mem(q, bytes, len);
    return true;
}

/* One call into the plugin; what was taken is taken from the queue.  HOST_FAILS is none of its answers:
 * a temporary file cannot be read or written. */
static terse_status step(struct turn *t, const terse_out *room)
{
    struct exchange *e = t->e;
    chunkqueue *q = &t->r->reqbody_queue;
    terse_str bytes;
    if (!body_front(t->r, q, PIECE, &t->s->in, &bytes))
        return HOST_FAILS;
    bool last = (off_t)bytes.len == chunkqueue_length(q);
    terse_in in = {bytes.ptr, bytes.len, 0};
    terse_out out = *room;
    uint64_t begin = terse_call_begins(TERSE_CALL_ALWAYS);
    terse_status status =
        api_of(t->s)->stream_run(e->stream, last ? TERSE_FINISH : TERSE_RUN, &in, &out, NULL);
    terse_call_ends(&t->s->calls, begin);
    chunkqueue_mark_written(q, (off_t)in.pos);
    if (out.pos > 0 && !keep(t->r, &e->body, out.ptr, out.pos))
        return HOST_FAILS;
    return status == TERSE_OK && in.pos == 0 && out.pos == 0 ? TERSE_E_DATA : status;
}

/* The status of the last call: OK or MORE when there is more to be done. */
static terse_status decode_turn(struct turn *t)
{
    off_t begin = chunkqueue_length(&t->e->body);
    int calls = 0; /* one may work for long and give nothing: codings in codings */
    terse_out room;
    terse_status status = api_of(t->s)->pool_lend(t->s->pool, ROOM, &room);
    if (status < 0)
        return status;
    do
        status = step(t, &room);
    while ((status == TERSE_OK || status == TERSE_MORE) && ++calls < CALLS_MAX &&
           chunkqueue_length(&t->e->body) - begin < TURN_MAX);
    api_of(t->s)->pool_return(t->s->pool, room.ptr);
    return status;
}

static bool open_stream(struct turn *t)
{
    terse_spec spec = {.struct_size = sizeof spec,
                       .direction = TERSE_DECODE,
                       .policy = t->e->policy,
                       .exchange = t->e->x,
                       .length = -1};
    if (api_of(t->s)->stream_open(t->s->pool, &spec, &t->e->stream) >= 0)
        return true;
    t->e->stream = NULL;
    return false;
}

/* The decoded body takes the place of the one that came. */
static handler_t put_in_place(struct turn *t)
{
    request_st *r = t->r;
    off_t len = chunkqueue_length(&t->e->body);
    headers_edit(r, t->decision.edits, t->decision.n_edits);
    chunkqueue_reset(&r->reqbody_queue);
    chunkqueue_append_chunkqueue(&r->reqbody_queue, &t->e->body);
    chunkqueue_reset(&t->e->body);
    r->reqbody_length = len;
    buffer_append_int(
        http_header_request_set_ptr(r, HTTP_HEADER_CONTENT_LENGTH, CONST_STR_LEN("Content-Length")),
        len);
    r->handler_module = t->e->waiting;
    if (r->handler_module)
        source_guard(t->s, r); /* a gateway, which is set up already: it goes on */
    else
        buffer_clear(&r->physical.path);
    return HANDLER_COMEBACK;
}

static handler_t fail(struct turn *t)
{
    request_drop(t->e);
    t->r->http_status = 500;
    t->r->handler_module = NULL;
    return HANDLER_FINISHED;
}

static handler_t finish(struct turn *t, terse_status how)
{
    struct exchange *e = t->e;
    if (how == HOST_FAILS)
        return fail(t);
    e->stream = NULL; /* the plugin takes it back */
    e->request = REQUEST_PLAIN;
    facts_tell(t, t->s, t->r, e);
    terse_status status = api_of(t->s)->request_body(
        e->x, &t->facts, how, (uint64_t)chunkqueue_length(&e->body), &t->decision);
    if (status >= 0 && t->decision.action == TERSE_PASS)
        return put_in_place(t);
    chunkqueue_reset(&e->body);
    if (status >= 0) {
        exchange_reply(t);
        return HANDLER_FINISHED;
    }
    return fail(t);
}

handler_t request_run(struct shim *s, request_st *r, struct exchange *e)
{
    struct turn t;
    if (e->request == REQUEST_AWAITED && r->state == CON_STATE_READ_POST) {
        handler_t rc = r->con->reqbody_read(r);
        if (rc != HANDLER_GO_ON)
            return rc;
        if (r->state == CON_STATE_READ_POST)
            return HANDLER_WAIT_FOR_EVENT;
    }
    e->request = REQUEST_COMPLETE;
    facts_tell(&t, s, r, e);
    if (!e->stream && !open_stream(&t))
        return finish(&t, TERSE_E_NOMEM);
    terse_status status = decode_turn(&t);
    if (status != TERSE_OK && status != TERSE_MORE)
        return finish(&t, status);
    joblist_append(r->con); /* after everybody else's turn */
    return HANDLER_WAIT_FOR_EVENT;
}
