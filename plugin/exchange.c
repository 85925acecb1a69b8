/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include <string.h>

#include "policy.h"
#include "pool.h"
#include "reasons.h"
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
    terse_str line;

    if (x->state != EXCHANGE_FRESH)
        return; /* the client's own field, not what a hook has made of it since */
    weights_init(&x->weights);
    for (uint32_t nth = 0; VIEW_LINE(facts, TERSE_REQUEST, "accept-encoding", nth, &line); nth++)
        weights_add(&x->weights, line);
    weights_finish(&x->weights);
    x->coding = CODING_IDENTITY;
    x->state = EXCHANGE_REQUESTED;
}

terse_status exchange_request(terse_exchange *x, const terse_facts *facts, terse_decision *out)
{
    terse_decision d = {.action = TERSE_PASS, .length = TERSE_LENGTH_KEEP};
    terse_facts f;
    terse_status status = exchange_enter(x, facts, &f);

    if (status < 0)
        return status;
    d.reason_name = reason_name(REASON_NONE);
    status = give(out, TERSE_DECISION_SIZE_V0, &d, sizeof d);
    if (status >= 0)
        exchange_read_request(x, &f);
    return status;
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
        o.reason = x->reason;
        if (x->reason == REASON_CODED || x->reason == REASON_HEAD)
            o.coding = x->coding == CODING_IDENTITY ? NULL : coding_name(x->coding);
        o.bytes_in = x->bytes_in;
        o.bytes_out = x->bytes_out;
        stream_free(x->stream);
        pool_count_end(x->pool, x->reason, how);
        policy_unref(x->policy);
    }
    if (x)
        memset(x, 0, sizeof *x);
    o.reason_name = reason_name(o.reason);
    if (out)
        give(out, TERSE_OUTCOME_SIZE_V0, &o, sizeof o);
}
