/* SPDX-License-Identifier: MIT */
/* One request and its response: what the plugin is told of it, and what is done with its answer. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_MAX 256
#define PEEK_MAX (1024 * 1024) /* more than that is not held back to look at */
#define PEEK_ROUNDS 8

/* ---- the state ---------------------------------------------------------------------------- */

/* Where the plugin's part begins behind ours. */
#define X_OFFSET                                                                                   \
    ((sizeof(struct exchange) + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) *               \
     _Alignof(max_align_t))

static struct exchange *take_spare(struct shim *s)
{
    struct exchange *e = s->spare;
    if (!e)
        return malloc(X_OFFSET + api_of(s)->exchange_size);
    s->spare = e->next;
    s->n_spare--;
    return e;
}

/* NULL where Terse is off. */
static struct exchange *begin(struct shim *s, request_st *r)
{
    const terse_policy *policy = scopes_policy(s, r);
    struct exchange *e = policy ? take_spare(s) : NULL;
    if (!e)
        return NULL;
    memset(e, 0, X_OFFSET + api_of(s)->exchange_size);
    e->x = (terse_exchange *)((char *)e + X_OFFSET);
    e->policy = policy;
    chunkqueue_init(&e->body);
    api_of(s)->policy_ref(policy);
    r->plugin_ctx[s->id] = e;
    return e;
}

void exchange_over(struct shim *s, request_st *r, struct exchange *e, int32_t how)
{
    terse_outcome outcome = {.struct_size = sizeof outcome};
    if (e->ended)
        return;
    e->ended = e->off = true;
    e->stream = NULL; /* it ends with the exchange */
    api_of(s)->exchange_end(e->x, how, &outcome);
    if (how == TERSE_SOURCE_BROKE && outcome.reason_name)
        notes_decision(r, outcome.coding, outcome.reason_name);
}

/* How it went: before the response began, a reset means that the server asks itself again (an error
 * handler, a local redirect), not that anybody gave up. */
static int32_t how_it_went(const request_st *r)
{
    return r->state == CON_STATE_RESPONSE_END || r->state < CON_STATE_RESPONSE_START
               ? TERSE_DONE
               : TERSE_ABORTED;
}

/* An error handler makes the document of a refusal: that is the same exchange, or what goes with the
 * status would be lost, and the request refused again. */
static bool is_kept(struct shim *s, request_st *r, struct exchange *e)
{
    if (!e->refused || r->state >= CON_STATE_RESPONSE_START)
        return false;
    e->refused = false;
    if (r->handler_module == server_handler_of(s))
        r->handler_module = NULL; /* or the server would ask this module again */
    return true;
}

void exchange_reset(struct shim *s, request_st *r)
{
    struct exchange *e = r->plugin_ctx[s->id];
    if (!e || is_kept(s, r, e))
        return;
    r->plugin_ctx[s->id] = NULL;
    source_forget(s, e);
    exchange_over(s, r, e, how_it_went(r));
    api_of(s)->policy_unref(e->policy);
    chunkqueue_reset(&e->body);
    if (s->n_spare >= SPARE_MAX) {
        free(e);
        return;
    }
    e->next = s->spare;
    s->spare = e;
    s->n_spare++;
}

void exchange_free_spare(struct shim *s)
{
    while (s->spare) {
        struct exchange *e = s->spare;
        s->spare = e->next;
        free(e);
    }
    s->n_spare = 0;
}

/* ---- the request -------------------------------------------------------------------------- */

/* The server takes the error page of a status that no module stands behind, and of one that a module
 * does with server.error-intercept. */
void exchange_reply(struct turn *t)
{
    t->e->refused = true;
    server_hand_over(t->r, t->s);
    http_response_body_clear(t->r, 0);
    turn_apply(t);
    chunkqueue_append_mem(&t->r->write_queue, t->decision.body.ptr, t->decision.body.len);
    t->r->resp_body_finished = 1;
}

bool exchange_request(struct shim *s, request_st *r)
{
    struct exchange *e = r->plugin_ctx[s->id];
    struct turn t;
    if (e) {
        /* the request was turned back to the start: it keeps its policy, but may be off now */
        request_drop(e);
        if (!scopes_policy(s, r))
            e->off = true;
        return false;
    }
    e = begin(s, r);
    if (!e)
        return false;
    facts_tell(&t, s, r, e);
    if (api_of(s)->request(e->x, &t.facts, &t.decision) < 0)
        return false;
    if (t.decision.action == TERSE_REPLY) {
        exchange_reply(&t);
        return true;
    }
    if (t.decision.action == TERSE_UNCODE)
        request_take(&t);
    headers_edit(r, t.decision.edits, t.decision.n_edits);
    return false;
}

/* ---- the answer --------------------------------------------------------------------------- */

void turn_apply(const struct turn *t)
{
    const terse_decision *d = &t->decision;
    headers_edit(t->r, d->edits, d->n_edits);
    if (d->status)
        t->r->http_status = (int)d->status;
    headers_set_length(t->r, d->length);
    if (d->length == TERSE_LENGTH_UNKNOWN && t->r->http_method == HTTP_METHOD_HEAD)
        body_drop(t->r); /* or the server would take its length */
    notes_decision(t->r, d->coding, d->reason_name);
}

static void send_no_body(const struct turn *t)
{
    http_response_body_clear(t->r, t->decision.length == TERSE_LENGTH_KEEP);
    t->r->resp_body_finished = 1;
    t->r->handler_module = NULL;
    turn_apply(t);
}

void turn_give_up(struct turn *t)
{
    t->facts.flags = (t->facts.flags & ~TERSE_FACT_COMPLETE) | TERSE_FACT_NO_ACCESS;
    if (api_of(t->s)->decide(t->e->x, &t->facts, &t->decision) >= 0 &&
        t->decision.action == TERSE_PASS)
        turn_apply(t);
    else
        notes_decision(t->r, NULL, NULL);
}

/* What is shown of the body: 0 its beginning, 1 all of it, 2 what has come before it paused. */
static int32_t how_much(const struct turn *t, size_t len, size_t all)
{
    if (t->r->resp_body_finished)
        return len == all;
    return len < t->decision.need && len < PEEK_MAX ? 2 : 0;
}

/* Shows the plugin as much of the body as it asks for, until it is content.  False: no luck. */
static bool let_peek(struct turn *t)
{
    const terse_api *api = api_of(t->s);
    size_t all = (size_t)chunkqueue_length(&t->r->write_queue);
    size_t most = all < PEEK_MAX ? all : PEEK_MAX;
    for (int i = 0; t->decision.action == TERSE_PEEK; i++) {
        terse_str bytes;
        size_t len = t->decision.need < most ? (size_t)t->decision.need : most;
        if (i == PEEK_ROUNDS || !body_peek(t, len, &bytes))
            return false;
        int32_t how = how_much(t, len, all);
        if (api->decide_more(t->e->x, &t->facts, bytes, how, &t->decision) < 0)
            return false;
        t->paused = how == 2;
    }
    return true;
}

/* It is told that the host cannot stream, for else it would set up an encoder. */
uint64_t exchange_foresee(struct shim *s, request_st *r, struct exchange *e, uint32_t *hold_ms)
{
    struct turn t;
    facts_tell_response(&t, s, r, e);
    t.facts.flags |= TERSE_FACT_NO_STREAM;
    *hold_ms = 0;
    if (e->off || api_of(s)->decide(e->x, &t.facts, &t.decision) < 0)
        return 0;
    if (t.decision.action == TERSE_WHOLE)
        return UINT64_MAX;
    *hold_ms = t.decision.hold_ms;
    return t.decision.action == TERSE_PEEK ? t.decision.need : 0;
}

/* The decision's headers, without the body's part in it. */
static void act_without_body(struct turn *t)
{
    int32_t action = t->decision.action;
    if (action == TERSE_NO_BODY)
        send_no_body(t);
    else if (action == TERSE_WHOLE || action == TERSE_PEEK ||
             (action == TERSE_STREAM && t->r->http_method != HTTP_METHOD_HEAD))
        notes_decision(t->r, NULL, NULL); /* it was told that this body cannot be had */
    else
        turn_apply(t);
}

static void act(struct turn *t)
{
    bool access = !(t->facts.flags & TERSE_FACT_NO_ACCESS);
    bool whole = t->decision.action == TERSE_WHOLE;
    if (access && (!let_peek(t) || (whole && !t->r->resp_body_finished)))
        turn_give_up(t); /* not held back: others handle the response after this module */
    else if (access && whole)
        body_whole(t);
    else if (access && t->decision.action == TERSE_STREAM && t->r->http_method != HTTP_METHOD_HEAD)
        slices_start(t);
    else
        act_without_body(t);
}

void exchange_response(struct shim *s, request_st *r)
{
    struct exchange *e = r->plugin_ctx[s->id];
    struct turn t;
    if (!e)
        e = begin(s, r); /* refused before the request came to us */
    if (!e)
        return;
    source_forget(s, e); /* whoever makes the response now */
    request_drop(e);
    if (e->off)
        return;
    facts_tell_response(&t, s, r, e);
    if (e->source.streams && (e->source.broken || facts_cut_short(r))) {
        slices_break(&t);
        return;
    }
    terse_status status = api_of(s)->decide(e->x, &t.facts, &t.decision);
    if (status >= 0) {
        act(&t);
        api_of(s)->pool_return(s->pool, t.lent.ptr);
        return;
    }
    complain(s, r, "no decision (status %d), sent as it is", (int)status);
    notes_decision(r, NULL, NULL);
}
