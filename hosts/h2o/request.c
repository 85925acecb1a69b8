/* SPDX-License-Identifier: MIT */
/* A request whose body the plugin decodes before the next handler sees it.  H2O has all of the body in
 * memory by then, and so has the decoded one to be, until the request ends. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 16384
#define ROOM_MAX 262144  /* as much as one call gives: a short body is decoded in one */
#define GROWTH 8         /* what text shrinks to, about */
#define TURN_MAX 1048576 /* decoded bytes of one round of the loop */
#define CALLS_MAX 8      /* of one round */
#define REST_MS 1        /* the shortest that lets the loop look at others */

struct decoding {
    struct exchange *e;
    h2o_handler_t *handler;
    terse_stream *stream;
    size_t taken;
    char *bytes; /* what came out so far */
    size_t len, room;
    h2o_timeout_entry_t timer;
};

static void dispose(void *memory)
{
    struct decoding *d = memory;
    h2o_timeout_unlink(&d->timer);
    free(d->bytes);
}

static bool make_room(struct decoding *d)
{
    size_t room = d->room ? d->room * 2 : ROOM_MIN;
    if (d->len < d->room)
        return true;
    while (!d->room && room < ROOM_MAX && room / GROWTH < d->e->req->entity.len)
        room *= 2;
    char *bytes = room > d->room ? realloc(d->bytes, room) : NULL;
    if (!bytes)
        return false;
    d->bytes = bytes;
    d->room = room;
    return true;
}

static terse_status step(struct decoding *d)
{
    struct worker *w = d->e->worker;
    const h2o_iovec_t *body = &d->e->req->entity;
    if (!make_room(d))
        return TERSE_E_NOMEM;
    terse_in in = {body->base + d->taken, body->len - d->taken, 0};
    terse_out out = {d->bytes + d->len, d->room - d->len, 0};
    uint64_t begin = terse_call_begins(TERSE_CALL_ALWAYS);
    terse_status status = api_of(w)->stream_run(d->stream, TERSE_FINISH, &in, &out, NULL);
    terse_call_ends(&w->calls, begin);
    d->taken += in.pos;
    d->len += out.pos;
    return status == TERSE_OK ? TERSE_E_DATA : status; /* FINISH has no such answer */
}

/* MORE: it takes another round. */
static terse_status turn(struct decoding *d)
{
    size_t begin = d->len, taken = d->taken;
    int calls = 0; /* one may work for long and give nothing: codings in codings */
    terse_status status;
    do
        status = step(d);
    while (status == TERSE_MORE && ++calls < CALLS_MAX && d->len - begin < TURN_MAX &&
           d->taken - taken < TURN_MAX);
    return status;
}

/* -1: the next handler's turn; 0: it was answered. */
static int finish(struct decoding *d, terse_status how)
{
    struct exchange *e = d->e;
    terse_decision decision = {.struct_size = sizeof decision};
    terse_facts facts;
    exchange_facts(e, &facts);
    terse_status status = api_of(e->worker)->request_body(e->x, &facts, how, d->len, &decision);
    if (status >= 0 && decision.action == TERSE_REPLY)
        return handler_reply(e, &decision);
    if (status < 0) {
        h2o_send_error_500(e->req, "Internal Server Error", "the body was not decoded", 0);
        return 0;
    }
    headers_edit(e->req, decision.edits, decision.n_edits);
    e->req->entity = h2o_iovec_init(d->len ? d->bytes : "", d->len);
    return -1;
}

static void rest(struct decoding *d)
{
    struct worker *w = d->e->worker;
    h2o_timeout_link(w->ctx->loop, worker_delay(w, REST_MS), &d->timer);
}

static void on_timer(h2o_timeout_entry_t *entry)
{
    struct decoding *d = H2O_STRUCT_FROM_MEMBER(struct decoding, timer, entry);
    terse_status status = turn(d);
    if (status == TERSE_MORE)
        rest(d);
    else if (finish(d, status) != 0)
        h2o_delegate_request(d->e->req, d->handler);
}

static bool open_stream(struct decoding *d)
{
    struct exchange *e = d->e;
    terse_spec spec = {.struct_size = sizeof spec,
                       .direction = TERSE_DECODE,
                       .policy = e->policy,
                       .exchange = e->x,
                       .length = -1};
    return api_of(e->worker)->stream_open(e->worker->pool, &spec, &d->stream) >= 0;
}

int request_decode(struct exchange *e, h2o_handler_t *handler)
{
    struct decoding *d = h2o_mem_alloc_shared(&e->req->pool, sizeof *d, dispose);
    memset(d, 0, sizeof *d);
    d->e = e;
    d->handler = handler;
    d->timer.cb = on_timer;
    terse_status status = open_stream(d) ? turn(d) : TERSE_E_NOMEM;
    if (status != TERSE_MORE)
        return finish(d, status);
    rest(d);
    return 0;
}
