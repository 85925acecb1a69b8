/* SPDX-License-Identifier: MIT */
#include "origin_coding.h"

#include "coding.h"
#include "content_codings.h"
#include "edits.h"
#include "eligibility.h"
#include "exchange.h"
#include "policy.h"
#include "reasons.h"
#include "view.h"

/* ---- responses -------------------------------------------------------------------------------- */

/* A client that sends no Accept-Encoding would have to take anything (section 12.5.3); what knows
 * codings names them. */
static bool accepts(const struct weights *w, const struct origin_coding *o)
{
    for (unsigned i = 0; i < o->n; i++)
        if (!w->milli[o->codings[i]])
            return false;
    return true;
}

/* The coding that the plain body would get; one that has to be looked at first gets none. */
static int coding_for(const terse_exchange *x, const terse_facts *f)
{
    terse_facts plain = *f;
    struct eligibility e;

    plain.length = -1;
    e = eligibility_of(&plain, &x->policy->settings, weights_refuse_identity(&x->weights), true);
    return e.reason || e.probe ? CODING_IDENTITY
                               : negotiator_choose(&x->policy->negotiator, &x->weights);
}

struct origin_coding origin_coding_of(const terse_exchange *x, const terse_facts *f)
{
    const struct settings *s = &x->policy->settings;
    struct origin_coding o = {.coding = CODING_IDENTITY};
    uint8_t reason;

    if (!s->decode_responses ||
        !content_codings_read(f, TERSE_RESPONSE, (unsigned)s->decode_codings, o.codings, &o.n))
        return o;
    reason = eligibility_to_decode(f, s);
    if (reason && reason != REASON_HOST)
        return o;
    o.vary = true;
    if (reason || accepts(&x->weights, &o))
        return o;
    o.coding = coding_for(x, f);
    o.decode = o.coding != CODING_IDENTITY || !weights_refuse_identity(&x->weights);
    return o;
}

/* ---- requests --------------------------------------------------------------------------------- */

/* A part cannot be decoded, so it is asked for as it is. */
static unsigned offered(const terse_exchange *x, const terse_facts *f)
{
    const struct settings *s = &x->policy->settings;
    const unsigned identity = 1u << CODING_IDENTITY;

    if (!s->decode_offer || s->decode_offer == identity)
        return s->decode_offer;
    if (!s->decode_responses)
        return 0;
    return VIEW_HAS(f, TERSE_REQUEST, "range") ? identity : s->decode_offer;
}

void origin_coding_offer(const terse_exchange *x, const terse_facts *f, struct edits *e)
{
    int codings[CODING_COUNT + 1];
    unsigned bits = offered(x, f), n = 0;
    terse_str value;

    if (!bits)
        return;
    for (int coding = 0; coding <= CODING_IDENTITY; coding++)
        if (bits >> coding & 1)
            codings[n++] = coding;
    if (content_codings_list(e, codings, n, &value))
        edits_put(e, TERSE_EDIT_SET, TERSE_REQUEST, STR("accept-encoding"), value);
}
