/* SPDX-License-Identifier: MIT */
/* One turn of a body: what is done with what the source has delivered. */
#include "body.h"

#define PEEK_MAX (1024 * 1024) /* more than that is not joined to be looked at */

/* ---- bodies that leave as they are --------------------------------------------------------------
 */

static void plain_turn(struct body *b, bool from_loop)
{
    size_t n;
    if (input_length(b) == 0 && !body_ended(b)) {
        generator_ask(b, from_loop);
        return;
    }
    h2o_iovec_t *bufs = input_vectors(b, &n);
    stream_send(b, bufs, n, b->state);
}

static void drop_turn(struct body *b, bool from_loop)
{
    input_clear(b);
    if (body_ended(b))
        stream_send(b, NULL, 0, b->state);
    else
        generator_ask(b, from_loop);
}

/* The plugin wants no part of this body, or no part of it can be had. */
static void go_plain(struct body *b, const terse_decision *d)
{
    b->mode = BODY_PLAIN;
    if (d)
        exchange_apply(b->e, d);
    else
        notes_decision(b->req, NULL, NULL);
    if (b->state == H2O_SEND_STATE_FINAL && b->declared == UINT64_MAX && !b->started)
        b->req->res.content_length = input_length(b); /* it is known by now */
}

/* Asks for the response as it is, without its body. */
static void give_up(struct body *b)
{
    terse_decision d = {.struct_size = sizeof d};
    b->facts.flags = TERSE_FACT_NO_ACCESS;
    terse_status status = api_of(b->e->worker)->decide(b->e->x, &b->facts, &d);
    go_plain(b, status >= 0 && d.action == TERSE_PASS ? &d : NULL);
}

/* ---- bodies that are held back ------------------------------------------------------------------
 */

static void act(struct body *b)
{
    terse_str all;
    switch (b->decision.action) {
    case TERSE_PEEK:
        return;
    case TERSE_WHOLE:
        b->mode = BODY_WHOLE;
        if (body_ended(b) && input_join(b, input_length(b), &all))
            coding_whole(b, all);
        else if (body_ended(b))
            give_up(b);
        return;
    case TERSE_STREAM:
        coding_open(b);
        return;
    default:
        go_plain(b, &b->decision);
    }
}

/* how: 0 more will come, 1 this is all, 2 the source has paused. */
static void show(struct body *b, size_t len, int32_t how)
{
    terse_str bytes;
    if (!input_join(b, len, &bytes)) {
        give_up(b);
        return;
    }
    terse_status status =
        api_of(b->e->worker)->decide_more(b->e->x, &b->facts, bytes, how, &b->decision);
    if (status < 0)
        give_up(b);
    else if (b->decision.action == TERSE_PEEK && how != 0)
        give_up(b); /* it has seen all that there is */
    else
        act(b);
}

static void peek(struct body *b)
{
    size_t len = input_length(b);
    if (b->state == H2O_SEND_STATE_ERROR)
        give_up(b);
    else if (body_ended(b) && len <= PEEK_MAX)
        show(b, len, 1);
    else if (len >= b->decision.need || len > PEEK_MAX)
        show(b, b->decision.need < len ? (size_t)b->decision.need : len, 0);
    else if (body_shadowed(b) && len > 0)
        show(b, len, 2); /* no timer may send when the source pauses */
}

static void collect(struct body *b)
{
    size_t len = input_length(b);
    terse_str all;
    if (b->state == H2O_SEND_STATE_ERROR || len > b->declared)
        give_up(b);
    else if (body_ended(b) && input_join(b, len, &all))
        coding_whole(b, all);
    else if (body_ended(b))
        give_up(b);
}

/* ---- turns --------------------------------------------------------------------------------------
 */

static bool holds(const struct body *b)
{
    return b->mode == BODY_WHOLE || b->mode == BODY_PEEK;
}

/* One question can lead to the next. */
static void decide(struct body *b)
{
    enum body_mode mode;
    uint64_t need;
    do {
        mode = b->mode;
        need = b->decision.need;
        if (mode == BODY_PEEK)
            peek(b);
        else
            collect(b);
    } while (holds(b) && (b->mode != mode || b->decision.need != need));
}

static void hold_turn(struct body *b, bool from_loop)
{
    decide(b);
    if (holds(b) && !input_keep(b))
        give_up(b);
    if (!holds(b)) {
        body_turn(b, from_loop);
        return;
    }
    if (b->mode == BODY_PEEK && !generator_waits(b))
        generator_wait(b, b->decision.hold_ms);
    generator_ask(b, from_loop);
}

void body_turn(struct body *b, bool from_loop)
{
    if (b->failed) {
        if (from_loop)
            stream_break(b);
        else
            stream_yield(b);
        return;
    }
    switch (b->mode) {
    case BODY_WHOLE:
    case BODY_PEEK:
        hold_turn(b, from_loop);
        break;
    case BODY_STREAM:
        coding_turn(b, from_loop);
        break;
    case BODY_PLAIN:
        plain_turn(b, from_loop);
        break;
    case BODY_DROP:
        drop_turn(b, from_loop);
        break;
    }
}

void body_paused(struct body *b)
{
    if (b->mode == BODY_STREAM) {
        b->flushing = true;
        coding_turn(b, true);
    } else if (b->mode == BODY_PEEK) {
        show(b, input_length(b), 2);
        b->flushing = b->mode == BODY_STREAM;
        if (b->mode != BODY_PEEK)
            body_turn(b, true);
    }
}
