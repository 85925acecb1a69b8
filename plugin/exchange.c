/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include <string.h>

#include "conditions.h"
#include "edits.h"
#include "origin_coding.h"
#include "policy.h"
#include "pool.h"
#include "reasons.h"
#include "refusal.h"
#include "request_body.h"
#include "stream.h"
#include "take.h"
#include "view.h"

#define KNOWN_FLAGS (TERSE_FACT_COMPLETE | TERSE_FACT_NO_ACCESS | TERSE_FACT_NO_STREAM)

terse_status exchange_enter(terse_exchange *x, const terse_facts *facts, terse_facts *copy)
{
    terse_status status = take(copy, sizeof *copy, TERSE_FACTS_SIZE_V0, facts);

    if (status < 0)
        return status;
    if (copy->flags & ~KNOWN_FLAGS)
        return TERSE_E_TOOBIG;
    if (!x || !copy->policy || !copy->pool || !copy->header ||
        (copy->method.len && !copy->method.ptr))
        return TERSE_E_ARG;
    if (!copy->policy->sealed)
        return TERSE_E_STATE;
    if (x->policy != copy->policy) {
        policy_ref(copy->policy);
        policy_unref(x->policy);
        x->policy = copy->policy;
    }
    x->pool = copy->pool;
    return TERSE_OK;
}

void exchange_read_request(terse_exchange *x, const terse_facts *facts)
{
    terse_str lines[VIEW_LINES_MAX];
    uint32_t n = 0;

    if (x->state != EXCHANGE_FRESH)
        return; /* the client's own field, not what a hook has made of it since */
    while (n < VIEW_LINES_MAX && VIEW_LINE(facts, TERSE_REQUEST, "accept-encoding", n, &lines[n]))
        n++;
    negotiator_read(&x->policy->negotiator, &x->weights, lines, n);
    x->coding = CODING_IDENTITY;
    x->state = EXCHANGE_REQUESTED;
}

static bool is_unacceptable(const terse_exchange *x, const terse_facts *f)
{
    return x->policy->settings.unacceptable == UNACCEPTABLE_406 &&
           weights_refuse_identity(&x->weights) &&
           negotiator_choose(&x->policy->negotiator, &x->weights) == CODING_IDENTITY &&
           !(f->method.len == 7 && !memcmp(f->method.ptr, "CONNECT", 7));
}

terse_status exchange_answer(terse_exchange *x, terse_decision *d, terse_decision *out)
{
    d->reason = x->reason;
    d->reason_name = reason_name(x->reason);
    d->reason_text = reason_text(x->reason);
    d->edits = x->pool->edits.list;
    d->n_edits = x->pool->edits.count;
    return give(out, TERSE_DECISION_SIZE_V0, d, sizeof *d);
}

static void first_request(terse_exchange *x, const terse_facts *f, terse_decision *d)
{
    if (is_unacceptable(x, f)) {
        refusal_not_acceptable(x, d);
        return;
    }
    if (!request_body_open(x, f, d))
        return;
    conditions_edit(x, f, &x->pool->edits);
    origin_coding_offer(x, f, &x->pool->edits);
}

terse_status exchange_request(terse_exchange *x, const terse_facts *facts, terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_KEEP};
    terse_facts f;
    terse_status status = exchange_enter(x, facts, &f);
    bool again;

    if (status < 0)
        return status;
    again = x->state != EXCHANGE_FRESH;
    edits_clear(&x->pool->edits);
    exchange_read_request(x, &f);
    if (!again)
        first_request(x, &f, &d);
    return exchange_answer(x, &d, out);
}

terse_status exchange_request_body(terse_exchange *x, const terse_facts *facts, terse_status how,
                                   uint64_t length, terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_KEEP};
    terse_facts f;
    terse_status status = exchange_enter(x, facts, &f);

    if (status < 0)
        return status;
    if (x->state != EXCHANGE_DECODING)
        return TERSE_E_STATE;
    edits_clear(&x->pool->edits);
    request_body_close(x, &f, how, length, &d);
    return exchange_answer(x, &d, out);
}

terse_status exchange_stream_open(terse_pool *pool, const terse_spec *spec, terse_stream **out)
{
    terse_spec mine;
    terse_status status = take(&mine, sizeof mine, TERSE_SPEC_SIZE_V0, spec);

    if (status < 0)
        return status;
    if (!out || !mine.exchange || !mine.exchange->stream)
        return stream_open(pool, spec, out);
    *out = mine.exchange->stream;
    return TERSE_OK;
}

void exchange_end(terse_exchange *x, int32_t how, terse_outcome *out)
{
    terse_outcome o = {.reason = REASON_NONE};

    if (x && x->policy) {
        if (stream_is_bad_origin(x->stream)) {
            x->reason = REASON_BAD_ORIGIN;
            how = TERSE_SOURCE_BROKE;
        }
        o.reason = x->reason;
        if (x->reason == REASON_CODED || x->reason == REASON_HEAD || x->reason == REASON_DECODED)
            o.coding = x->coding == CODING_IDENTITY ? NULL : coding_name(x->coding);
        o.bytes_in = x->bytes_in;
        o.bytes_out = x->bytes_out;
        stream_free(x->stream);
        x->pool->decoding -= x->decoded;
        pool_count_end(x->pool, x->reason, how);
        policy_unref(x->policy);
    }
    if (x)
        memset(x, 0, sizeof *x);
    o.reason_name = reason_name(o.reason);
    if (out)
        give(out, TERSE_OUTCOME_SIZE_V0, &o, sizeof o);
}
