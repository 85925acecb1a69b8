/* SPDX-License-Identifier: MIT */
#include "request_body.h"

#include <string.h>

#include "chain.h"
#include "content_codings.h"
#include "edits.h"
#include "exchange.h"
#include "policy.h"
#include "pool.h"
#include "reasons.h"
#include "refusal.h"
#include "stream.h"
#include "view.h"

/* A part of a coded body is not a coded body (section 14.4). */
static bool is_wanted(const terse_exchange *x, const terse_facts *f)
{
    return x->policy->settings.decode_requests && VIEW_HAS(f, TERSE_REQUEST, "content-encoding") &&
           !VIEW_HAS(f, TERSE_REQUEST, "content-range") &&
           !(f->method.len == 7 && !memcmp(f->method.ptr, "CONNECT", 7));
}

bool request_body_open(terse_exchange *x, const terse_facts *f, terse_decision *d)
{
    const struct settings *s = &x->policy->settings;
    struct chain_limits limits = {s->decode_length, (uint64_t)s->decode_ratio, 0};
    int codings[CHAIN_MAX];
    unsigned n;
    terse_status status;

    if (!is_wanted(x, f))
        return true;
    if (!content_codings_read(f, TERSE_REQUEST, (unsigned)s->decode_codings, codings, &n)) {
        refusal_of_body(x, REASON_UNSUPPORTED, d);
        return false;
    }
    if (!n)
        return true;
    if (f->body_limit && f->body_limit < limits.length)
        limits.length = f->body_limit;
    status = stream_open_chain(x, codings, n, &limits);
    if (status < 0) {
        refusal_of_body(x, REASON_BODY_MEMORY, d);
        return false;
    }
    x->state = EXCHANGE_DECODING;
    d->action = TERSE_UNCODE;
    d->piece = CHAIN_INPUT;
    return true;
}

/* What said something of the bytes that came. */
static void edit(struct edits *e, const terse_facts *f)
{
    static const terse_str names[] = {{"content-encoding", 16},
                                      {"content-digest", 14},
                                      {"repr-digest", 11},
                                      {"digest", 6},
                                      {"content-md5", 11}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (view_has(f, TERSE_REQUEST, names[i].ptr, names[i].len))
            edits_put(e, TERSE_EDIT_REMOVE, TERSE_REQUEST, names[i], STR(""));
}

static uint8_t reason_of(terse_status how)
{
    if (how == TERSE_E_LIMIT)
        return REASON_BODY_LIMIT;
    return how == TERSE_E_NOMEM ? REASON_BODY_MEMORY : REASON_BAD_BODY;
}

void request_body_drop(terse_exchange *x)
{
    stream_free(x->stream);
    x->state = EXCHANGE_REQUESTED;
}

void request_body_close(terse_exchange *x, const terse_facts *f, terse_status how, uint64_t length,
                        terse_decision *d)
{
    request_body_drop(x);
    if (how != TERSE_END) {
        refusal_of_body(x, reason_of(how), d);
        return;
    }
    edit(&x->pool->edits, f);
    d->length = (int64_t)length;
}
