/* SPDX-License-Identifier: MIT */
/* Bodies that are coded: in one call, or as they come. */
#include "body.h"

#include <string.h>

#define CODED_SIZE 65536  /* most coded bytes of one send */
#define CODED_ENOUGH 8192 /* less is sent only when the source pauses or ends */
#define PIECE_MAX 262144  /* most input of one turn, whatever the plugin allows */
#define IDLE_MAX 100000   /* calls that neither take nor give: there will be no other */
#define STALE_FACTOR 5    /* a source that never pauses is flushed after so many delays */

/* ---- in one call --------------------------------------------------------------------------------
 */

static h2o_iovec_t copy(struct body *b, terse_str bytes)
{
    terse_out *to = &b->e->coded;
    if (!to->ptr || to->len < bytes.len)
        return h2o_strdup(&b->req->pool, bytes.ptr, bytes.len);
    memcpy(to->ptr, bytes.ptr, bytes.len);
    return h2o_iovec_init(to->ptr, bytes.len);
}

/* The coded bytes are good until the pool's next call, so room for them is borrowed before. */
void coding_whole(struct body *b, terse_str bytes)
{
    const terse_api *api = api_of(b->e->worker);
    terse_str coded = {NULL, 0};
    if (api->pool_lend(b->e->worker->pool, bytes.len ? bytes.len : 1, &b->e->coded) < 0)
        b->e->coded.ptr = NULL;
    b->facts.flags |= TERSE_FACT_COMPLETE;
    b->facts.length = (int64_t)bytes.len;
    uint64_t begin = terse_call_begins(bytes.len);
    terse_status status = api->encode_whole(b->e->x, &b->facts, bytes, &coded, &b->decision);
    terse_call_ends(&b->e->worker->calls, begin);
    b->mode = BODY_PLAIN;
    b->req->res.content_length = bytes.len;
    if (status < 0) {
        complain(b->e->worker, b->req, "not coded (status %d), sent as it is", (int)status);
        notes_decision(b->req, NULL, NULL);
        return;
    }
    if (!b->decision.coding) {
        exchange_apply(b->e, &b->decision);
        return;
    }
    h2o_iovec_t whole = copy(b, coded);
    b->decision.length = (int64_t)coded.len;
    exchange_apply(b->e, &b->decision);
    input_replace(b, whole);
}

/* ---- as they come -------------------------------------------------------------------------------
 */

static bool open_stream(struct body *b)
{
    struct worker *w = b->e->worker;
    terse_spec spec = {
        .struct_size = sizeof spec,
        .direction = TERSE_ENCODE,
        .policy = b->e->policy,
        .exchange = b->e->x,
        .coding = {b->decision.coding, b->decision.coding ? strlen(b->decision.coding) : 0},
        .length = b->facts.length,
    };
    return api_of(w)->stream_open(w->pool, &spec, &b->stream) >= 0;
}

/* The edits of the decision are applied first: they are good until the pool's next call. */
void coding_open(struct body *b)
{
    exchange_apply(b->e, &b->decision);
    b->decision.n_edits = 0;
    b->req->res.content_length = SIZE_MAX;
    b->mode = BODY_STREAM;
    b->room = (terse_out){NULL, 0, 0};
    if (open_stream(b))
        return;
    complain(b->e->worker, b->req, "no encoder, cut off");
    b->failed = true;
}

static bool borrow_room(struct body *b)
{
    struct worker *w = b->e->worker;
    if (b->room.ptr)
        return true;
    if (api_of(w)->pool_lend(w->pool, CODED_SIZE, &b->e->coded) < 0) {
        b->e->coded.ptr = NULL; /* nothing to give back */
        return false;
    }
    b->room = b->e->coded;
    return true;
}

/* What was sent has left, and the source may be silent for long. */
static void give_room_back(struct body *b)
{
    struct worker *w = b->e->worker;
    if (b->room.pos > 0)
        return;
    api_of(w)->pool_return(w->pool, b->e->coded.ptr);
    b->e->coded.ptr = b->room.ptr = NULL;
}

static terse_status run(struct body *b, int32_t operation, terse_str bytes, size_t *taken)
{
    terse_in in = {bytes.ptr, bytes.len, 0};
    terse_report report = {.struct_size = sizeof report};
    size_t before = b->room.pos;
    uint64_t begin = terse_call_begins(operation == TERSE_FINISH ? TERSE_CALL_ALWAYS : bytes.len);
    terse_status status =
        api_of(b->e->worker)->stream_run(b->stream, operation, &in, &b->room, &report);
    terse_call_ends(&b->e->worker->calls, begin);
    *taken = in.pos;
    b->more = status == TERSE_MORE;
    b->idle = b->more && in.pos == 0 && b->room.pos == before && before == 0 ? b->idle + 1 : 0;
    if (b->idle > IDLE_MAX)
        return TERSE_E_BROKEN;
    b->flush_ms = status >= 0 ? report.flush_ms : 0;
    b->flushed = status >= 0 && report.unflushed == 0;
    return status;
}

static void send_coded(struct body *b, h2o_send_state_t state)
{
    h2o_iovec_t bytes = h2o_iovec_init(b->room.ptr, b->room.pos);
    b->room.pos = 0;
    b->stale_at = 0;
    stream_send(b, &bytes, bytes.len > 0, state);
}

/* What the next call is to do: input first, then the end or a flush. */
static int32_t operation_for(const struct body *b, size_t len, size_t all)
{
    if (len == all && b->state == H2O_SEND_STATE_FINAL)
        return TERSE_FINISH;
    if (len == all && (b->flushing || body_shadowed(b)))
        return TERSE_FLUSH;
    return TERSE_RUN;
}

/* Codes up to a piece of input, as long as there is room.  OK: all was taken; END: so it was, and
 * it was the last; MORE: not all. */
static terse_status code(struct body *b)
{
    size_t piece =
        b->decision.piece && b->decision.piece < PIECE_MAX ? (size_t)b->decision.piece : PIECE_MAX;
    for (;;) {
        size_t all = input_length(b), taken;
        terse_str bytes = input_next(b, piece);
        int32_t operation = operation_for(b, bytes.len, all);
        if (bytes.len == 0 && operation == TERSE_RUN && !(all == 0 && b->more))
            return all == 0 ? TERSE_OK : TERSE_MORE;
        if (!borrow_room(b))
            return TERSE_E_NOMEM;
        if (b->room.pos == b->room.len)
            return TERSE_MORE;
        terse_status status = run(b, operation, bytes, &taken);
        if (taken > 0)
            input_take(b, taken);
        piece -= taken;
        if (status < 0 || status == TERSE_MORE || operation == TERSE_FINISH)
            return status < 0 || status == TERSE_MORE || status == TERSE_END ? status
                                                                             : TERSE_E_BROKEN;
        if (operation == TERSE_FLUSH) {
            b->flushing = false;
            return TERSE_OK;
        }
        if (taken < bytes.len)
            return TERSE_E_BROKEN;
    }
}

/* All input is taken: coded bytes that are not worth a send wait for more, but not long.  A flush
 * with nothing to flush still sends the headers. */
static void wait_for_more(struct body *b, bool from_loop)
{
    uint64_t now = h2o_now(b->req->conn->ctx->loop);
    bool due = b->flush_ms > 0 && b->stale_at > 0 && now >= b->stale_at;
    if (b->flushed && b->room.pos == 0 && !b->started) {
        stream_send_headers(b);
        return;
    }
    if (b->room.pos >= CODED_ENOUGH || (b->flushed && b->room.pos > 0)) {
        send_coded(b, H2O_SEND_STATE_IN_PROGRESS);
        return;
    }
    if (b->flush_ms > 0) {
        if (b->stale_at == 0)
            b->stale_at = now + STALE_FACTOR * b->flush_ms;
        if (due && !b->flushing) {
            b->flushing = true;
            coding_turn(b, from_loop);
            return;
        }
        generator_wait(b, b->flush_ms);
    }
    give_room_back(b);
    generator_ask(b, from_loop);
}

void coding_turn(struct body *b, bool from_loop)
{
    if (b->state == H2O_SEND_STATE_ERROR) {
        send_coded(b, H2O_SEND_STATE_ERROR);
        return;
    }
    terse_status status = code(b);
    if (status < 0) {
        complain(b->e->worker, b->req, "coding failed midway (status %d), cut off", (int)status);
        b->failed = true;
        body_turn(b, from_loop);
    } else if (status == TERSE_END) {
        b->stream = NULL; /* it ends with the exchange, now */
        send_coded(b, H2O_SEND_STATE_FINAL);
    } else if (status == TERSE_MORE && b->room.pos > 0) {
        send_coded(b, H2O_SEND_STATE_IN_PROGRESS);
    } else if (status == TERSE_MORE) {
        stream_yield(b); /* others' turn */
    } else {
        wait_for_more(b, from_loop);
    }
}
