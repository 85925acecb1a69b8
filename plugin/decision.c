/* SPDX-License-Identifier: MIT */
/* What is done with one response, and the edits that go with it. */
#include "exchange.h"

#include <string.h>

#include "codec.h"
#include "conditions.h"
#include "edits.h"
#include "eligibility.h"
#include "entity_tag.h"
#include "origin_coding.h"
#include "policy.h"
#include "pool.h"
#include "probe.h"
#include "reasons.h"
#include "refusal.h"
#include "representation.h"
#include "request_body.h"
#include "stream.h"
#include "take.h"
#include "view.h"

/* Most input of one turn of a body that is decoded: it may give a thousand bytes for each. */
#define PIECE 16384

/* ---- outcomes --------------------------------------------------------------------------------- */

/* The hint is between origin and server: it does not leave. */
static struct edits *begin_edits(terse_exchange *x, const terse_facts *f)
{
    struct edits *e = &x->pool->edits;

    edits_clear(e);
    if (VIEW_HAS(f, TERSE_RESPONSE, "x-compress-hint"))
        edits_put(e, TERSE_EDIT_REMOVE, TERSE_RESPONSE, STR("x-compress-hint"), STR(""));
    return e;
}

static terse_status identity(terse_exchange *x, const terse_facts *f, uint8_t reason, bool vary,
                             terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_KEEP};
    struct edits *e = begin_edits(x, f);

    if (vary)
        representation_vary(e, f);
    x->reason = reason;
    x->coding = CODING_IDENTITY;
    x->state = EXCHANGE_DECIDED;
    return exchange_answer(x, &d, out);
}

/* The answer of ours, or the document that the server has put in its place. */
static terse_status refused(terse_exchange *x, const terse_facts *f, terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_KEEP};
    struct edits *e = begin_edits(x, f);

    if (x->reason == REASON_UNACCEPTABLE)
        representation_vary(e, f);
    refusal_fields(x);
    x->coding = CODING_IDENTITY;
    x->state = EXCHANGE_DECIDED;
    return exchange_answer(x, &d, out);
}

static terse_status coded(terse_exchange *x, const terse_facts *f, terse_decision *d,
                          terse_decision *out)
{
    bool streamed = d->action == TERSE_STREAM ||
                    (f->length >= 0 && (uint64_t)f->length > x->policy->settings.slice);

    representation_coded(begin_edits(x, f), f, x->policy, x->coding, streamed);
    d->coding = coding_name(x->coding);
    return exchange_answer(x, d, out);
}

static terse_status want(terse_exchange *x, uint8_t state, terse_decision *d, terse_decision *out)
{
    edits_clear(&x->pool->edits);
    x->reason = REASON_NONE;
    x->state = state;
    d->length = TERSE_LENGTH_KEEP;
    return exchange_answer(x, d, out);
}

static uint8_t reason_of_failure(terse_status status)
{
    return status == TERSE_E_NOMEM ? REASON_MEMORY : REASON_CODEC;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static terse_status start_stream(terse_exchange *x, const terse_facts *f, terse_decision *out)
{
    terse_decision d = {.action = TERSE_STREAM, .length = TERSE_LENGTH_UNKNOWN};
    const char *name = coding_name(x->coding);
    terse_spec spec = {sizeof spec, TERSE_ENCODE, x->policy, x, {name, strlen(name)}, f->length};
    terse_status status;

    if (f->flags & TERSE_FACT_NO_STREAM)
        return identity(x, f, REASON_HOST, true, out);
    /* set up here, so that a failure still leaves the response as it is */
    status = stream_open(x->pool, &spec, &x->stream);
    if (status < 0)
        return identity(x, f, reason_of_failure(status), true, out);
    d.piece =
        codec_piece(x->coding, codec_level(&x->policy->settings, x->coding, f->length, false));
    x->reason = REASON_CODED;
    x->state = EXCHANGE_STREAMING;
    return coded(x, f, &d, out);
}

/* The body may be coded in x->coding: how is it to come? */
static terse_status ask_for_body(terse_exchange *x, const terse_facts *f, terse_decision *out)
{
    const struct settings *s = &x->policy->settings;
    terse_decision d = {.action = TERSE_WHOLE};

    if (f->length >= 0 && (uint64_t)f->length <= s->slice)
        return want(x, EXCHANGE_WHOLE, &d, out);
    d.action = TERSE_PEEK;
    d.hold_ms = s->flush_delay; /* headers never wait longer for the body */
    d.need = x->probe ? PROBE_BYTES : 0;
    if (f->length < 0 && d.need < s->min_length && !x->short_too)
        d.need = s->min_length;
    if (!d.need)
        return start_stream(x, f, out);
    return want(x, EXCHANGE_PEEKING, &d, out);
}

/* HEAD: what GET would say, as far as it can be known without the body (section 9.3.2). */
static terse_status head(terse_exchange *x, const terse_facts *f, terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_UNKNOWN};
    struct edits *e;

    x->reason = REASON_HEAD;
    x->state = EXCHANGE_DECIDED;
    if (f->length >= 0 && !x->probe)
        return coded(x, f, &d, out);
    e = begin_edits(x, f);
    representation_vary(e, f);
    representation_validator(e, f, x->policy, x->coding, true);
    x->coding = CODING_IDENTITY;
    return exchange_answer(x, &d, out);
}

/* What the 200 would have, or what the client has of it: where it gets no coding, it may have got a
 * body whose coding was taken off. */
static struct entity_tag other_tag(terse_exchange *x, const struct entity_tag *plain, int coding)
{
    if (coding == CODING_IDENTITY)
        return representation_decoded_tag(plain, x->policy);
    return representation_coded_tag(&x->pool->edits, plain, x->policy, coding, false);
}

static void pick_tag(terse_exchange *x, const terse_facts *f, const struct entity_tag *plain,
                     int coding)
{
    struct entity_tag coded = other_tag(x, plain, coding), picked;
    bool found = conditions_pick(x, f, plain, &coded, &picked);

    if (coding == CODING_IDENTITY && !found)
        return;
    if (picked.weak != plain->weak || !entity_tag_same(&picked, plain))
        representation_set_tag(&x->pool->edits, &picked);
}

/* 304: the Vary and the validator of the response it stands for (section 15.4.5).  coding: what that
 * one would have. */
static terse_status not_modified(terse_exchange *x, const terse_facts *f, int coding, bool vary,
                                 terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_KEEP};
    struct edits *e = begin_edits(x, f);
    struct entity_tag plain;

    if (vary)
        representation_vary(e, f);
    if (!representation_tag(f, &plain))
        representation_validator(e, f, x->policy, coding, false);
    else if (coding != CODING_IDENTITY || x->policy->settings.decode_responses)
        pick_tag(x, f, &plain, coding);
    if (f->status != 304) {
        representation_no_content(e, f);
        d.action = TERSE_NO_BODY;
        d.status = 304;
        d.length = TERSE_LENGTH_UNKNOWN;
    }
    x->reason = REASON_NOT_MODIFIED;
    x->coding = CODING_IDENTITY;
    x->state = EXCHANGE_DECIDED;
    return exchange_answer(x, &d, out);
}

/* Whether the client has it already, and nobody has seen that. */
static bool is_not_modified(terse_exchange *x, const terse_facts *f, int coding, bool decoded)
{
    struct entity_tag plain, coded;

    if (!representation_tag(f, &plain))
        return false;
    edits_clear(&x->pool->edits);
    coded = coding == CODING_IDENTITY && !decoded ? plain : other_tag(x, &plain, coding);
    return conditions_hold(x, f, &plain, &coded);
}

/* ---- responses that come coded ---------------------------------------------------------------- */

static void decoded_edits(terse_exchange *x, const terse_facts *f, terse_decision *d)
{
    struct edits *e = begin_edits(x, f);

    if (x->coding == CODING_IDENTITY) {
        representation_decoded(e, f, x->policy);
        return;
    }
    representation_coded(e, f, x->policy, x->coding, true);
    d->coding = coding_name(x->coding);
}

static terse_status decode(terse_exchange *x, const terse_facts *f, const struct origin_coding *o,
                           terse_decision *out)
{
    terse_decision d = {.action = TERSE_STREAM, .length = TERSE_LENGTH_UNKNOWN, .piece = PIECE};
    terse_status status = TERSE_OK;

    x->reason = REASON_DECODED;
    x->state = EXCHANGE_STREAMING;
    if (f->method.len == 4 && !memcmp(f->method.ptr, "HEAD", 4)) {
        d.action = TERSE_PASS;
        x->reason = REASON_HEAD;
        x->state = EXCHANGE_DECIDED;
    } else if (f->flags & TERSE_FACT_NO_STREAM) {
        return identity(x, f, REASON_HOST, true, out);
    } else {
        status = stream_open_recoding(x, o->codings, o->n, o->coding, f->length);
    }
    if (status < 0)
        return identity(x, f, reason_of_failure(status), true, out);
    x->coding = (uint8_t)o->coding;
    decoded_edits(x, f, &d);
    return exchange_answer(x, &d, out);
}

/* It passes where the client takes its coding, and where nothing can be done about it. */
static terse_status came_coded(terse_exchange *x, const terse_facts *f, terse_decision *out)
{
    struct origin_coding o = origin_coding_of(x, f);

    if (!o.decode)
        return identity(x, f, REASON_ENCODED, o.vary, out);
    if (f->status == 304 || is_not_modified(x, f, o.coding, true))
        return not_modified(x, f, o.coding, true, out);
    return decode(x, f, &o, out);
}

/* ---- the slots -------------------------------------------------------------------------------- */

/* A HEAD's body is not there to be measured; Content-Length says what GET would send. */
static void find_length(terse_facts *f)
{
    terse_str value;
    uint64_t length = 0;

    if (f->length >= 0 || !VIEW_LINE(f, TERSE_RESPONSE, "content-length", 0, &value))
        return;
    value = text_trim(value);
    if (!value.len || value.len > 18)
        return;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return;
        length = length * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    f->length = (int64_t)length;
}

/* Why a response that may be coded is not, for this client. */
static uint8_t client_reason(const terse_exchange *x)
{
    if (x->coding != CODING_IDENTITY)
        return REASON_NONE;
    return x->weights.milli[CODING_IDENTITY] ? REASON_IDENTITY : REASON_NOT_ACCEPTED;
}

static terse_status decide(terse_exchange *x, terse_facts *f, terse_decision *out)
{
    struct eligibility e;
    int coding;

    find_length(f);
    e = eligibility_of(f, &x->policy->settings, weights_refuse_identity(&x->weights), false);
    x->coding = (uint8_t)negotiator_choose(&x->policy->negotiator, &x->weights);
    if (f->status == 304 && e.reason == REASON_HOST)
        return not_modified(x, f, CODING_IDENTITY, false, out);
    if (f->status == 304 && (!e.reason || e.vary))
        return not_modified(x, f, x->coding, true, out);
    if (e.reason == REASON_ENCODED)
        return came_coded(x, f, out);
    coding = e.reason ? CODING_IDENTITY : x->coding;
    if (e.vary && is_not_modified(x, f, coding, false))
        return not_modified(x, f, coding, true, out);
    if (x->refused)
        return refused(x, f, out);
    if (!e.reason)
        e.reason = client_reason(x);
    if (e.reason)
        return identity(x, f, e.reason, e.vary, out);
    x->probe = e.probe;
    x->short_too = e.short_too;
    if (f->method.len == 4 && !memcmp(f->method.ptr, "HEAD", 4))
        return head(x, f, out);
    return ask_for_body(x, f, out);
}

terse_status exchange_decide(terse_exchange *x, const terse_facts *facts, terse_decision *out)
{
    terse_facts f;
    terse_status status = exchange_enter(x, facts, &f);

    if (status < 0)
        return status;
    if (x->state == EXCHANGE_DECODING)
        request_body_drop(x);
    if (x->stream)
        return TERSE_E_STATE;
    exchange_read_request(x, &f);
    return decide(x, &f, out);
}

terse_status exchange_decide_more(terse_exchange *x, const terse_facts *facts, terse_str bytes,
                                  int32_t how, terse_decision *out)
{
    terse_decision d = {.action = TERSE_WHOLE};
    terse_facts f;
    terse_status status = exchange_enter(x, facts, &f);
    uint8_t reason;

    if (status < 0)
        return status;
    if (how < 0 || how > 2 || (bytes.len && !bytes.ptr))
        return TERSE_E_ARG;
    if (x->state != EXCHANGE_PEEKING)
        return TERSE_E_STATE;
    if (how == 1) { /* the body's end came first: its length is known now */
        reason = eligibility_length(bytes.len, &x->policy->settings, x->short_too);
        if (reason)
            return identity(x, &f, reason, true, out);
        if (bytes.len <= x->policy->settings.slice)
            return want(x, EXCHANGE_WHOLE, &d, out);
        f.length = (int64_t)bytes.len;
    }
    if (x->probe && !probe_codable(bytes.ptr, bytes.len))
        return identity(x, &f, REASON_PROBE, true, out);
    return start_stream(x, &f, out);
}

/* Room for a coded body: less than the body's own length, or it is no gain.  A client that refuses
 * identity gets it coded all the same. */
static size_t room_for(const terse_exchange *x, size_t len)
{
    return weights_refuse_identity(&x->weights) ? len + len / 8 + 256 : len - 1;
}

static uint8_t encode(terse_exchange *x, terse_str body, terse_str *result)
{
    size_t room, n = 0;
    void *to;
    terse_status status;

    if (!body.len)
        return REASON_EMPTY;
    if (x->probe && !probe_codable(body.ptr, body.len))
        return REASON_PROBE;
    room = room_for(x, body.len);
    to = pool_coded_room(x->pool, room);
    if (!to)
        return REASON_MEMORY;
    status = codec_encode_whole(x->pool, &x->policy->settings, x->coding, body.ptr, body.len, to,
                                room, &n);
    if (status < 0)
        return reason_of_failure(status);
    if (status == TERSE_MORE)
        return REASON_NO_GAIN;
    *result = (terse_str){to, n};
    return REASON_CODED;
}

terse_status exchange_encode_whole(terse_exchange *x, const terse_facts *facts, terse_str body,
                                   terse_str *coded_body, terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS};
    terse_facts f;
    terse_status status = exchange_enter(x, facts, &f);
    uint8_t reason;

    if (status < 0)
        return status;
    if (!coded_body || (body.len && !body.ptr))
        return TERSE_E_ARG;
    if (x->state != EXCHANGE_WHOLE)
        return TERSE_E_STATE;
    *coded_body = (terse_str){"", 0};
    reason = encode(x, body, coded_body);
    if (reason != REASON_CODED)
        return identity(x, &f, reason, true, out);
    x->reason = REASON_CODED;
    x->state = EXCHANGE_DECIDED;
    x->bytes_in += body.len;
    x->bytes_out += coded_body->len;
    d.length = (int64_t)coded_body->len;
    return coded(x, &f, &d, out);
}
