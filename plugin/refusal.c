/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <string.h>

#include "coding.h"
#include "content_codings.h"
#include "edits.h"
#include "exchange.h"
#include "policy.h"
#include "pool.h"
#include "reasons.h"
#include "text.h"

static void set(struct edits *e, terse_str name, terse_str value)
{
    edits_put(e, TERSE_EDIT_SET, TERSE_RESPONSE, name, value);
}

static void reply(terse_exchange *x, uint32_t status, uint8_t reason, terse_str text,
                  terse_decision *d)
{
    set(&x->pool->edits, STR("content-type"), STR("text/plain"));
    d->action = TERSE_REPLY;
    d->status = status;
    d->body = text;
    d->length = (int64_t)text.len;
    x->reason = reason;
    x->refused = 1;
}

void refusal_not_acceptable(terse_exchange *x, terse_decision *d)
{
    const terse_negotiator *n = &x->policy->negotiator;
    int codings[CODING_COUNT + 1] = {CODING_IDENTITY};
    terse_str names, text;

    for (unsigned i = 0; i < n->n_order; i++)
        codings[i + 1] = n->order[i];
    content_codings_list(&x->pool->edits, codings, n->n_order + 1u, &names);
    edits_join(&x->pool->edits,
               (terse_str[]){STR("The content codings on offer here are "), names, STR(".\n")}, 3,
               &text);
    set(&x->pool->edits, STR("vary"), STR("Accept-Encoding"));
    reply(x, 406, REASON_UNACCEPTABLE, text, d);
}

/* What of request bodies can be decoded here (sections 12.5.3 and 15.5.16). */
static void offer(terse_exchange *x)
{
    int codings[CODING_COUNT];
    unsigned n = 0;
    terse_str names;

    for (int coding = 0; coding < CODING_COUNT; coding++)
        if (coding_built(coding))
            codings[n++] = coding;
    content_codings_list(&x->pool->edits, codings, n, &names);
    set(&x->pool->edits, STR("accept-encoding"), names);
}

void refusal_fields(terse_exchange *x)
{
    if (x->reason == REASON_UNSUPPORTED)
        offer(x);
    else if (x->reason == REASON_BODY_MEMORY)
        set(&x->pool->edits, STR("retry-after"), STR("1"));
}

void refusal_of_body(terse_exchange *x, uint8_t reason, terse_decision *d)
{
    const char *text = reason_text(reason);
    terse_str line;

    edits_join(&x->pool->edits, (terse_str[]){{text, strlen(text)}, STR("\n")}, 2, &line);
    switch (reason) {
    case REASON_UNSUPPORTED:
        reply(x, 415, reason, line, d);
        break;
    case REASON_BODY_LIMIT:
        reply(x, 413, reason, line, d);
        break;
    case REASON_BODY_MEMORY:
        reply(x, 503, reason, line, d);
        break;
    default:
        reply(x, 400, reason, line, d);
        break;
    }
    refusal_fields(x);
}
