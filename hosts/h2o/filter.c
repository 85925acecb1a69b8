/* SPDX-License-Identifier: MIT */
/* The response's headers are here: asks the plugin, and does what needs no body. */
#include "body.h"

static bool is_head(const h2o_req_t *req)
{
    return h2o_memis(req->input.method.base, req->input.method.len, H2O_STRLIT("HEAD"));
}

/* What has to see the body stands in its way; the ostreams behind are set up when the headers are
 * final.  False: the body leaves as it is. */
static bool take_body(struct exchange *e, h2o_ostream_t **slot, const terse_facts *facts,
                      const terse_decision *d)
{
    switch (d->action) {
    case TERSE_WHOLE:
    case TERSE_PEEK:
    case TERSE_STREAM:
        if (is_head(e->req)) /* the edits belong to bodies that are to come */
            return false;
        break;
    case TERSE_NO_BODY:
        exchange_apply(e, d);
        e->req->res.content_length = e->req->res.status == 304 ? SIZE_MAX : 0;
        break;
    default:
        exchange_apply(e, d);
        return false;
    }
    stream_add(e, slot, facts, d);
    return true;
}

static void decide(const struct filter *f, struct worker *w, h2o_req_t *req, h2o_ostream_t **slot)
{
    struct exchange *e = exchange_of(w, req, f->policy);
    terse_decision decision = {.struct_size = sizeof decision};
    terse_facts facts;
    exchange_facts(e, &facts);
    facts.status = (uint32_t)req->res.status;
    if (req->res.content_length <= INT64_MAX)
        facts.length = (int64_t)req->res.content_length;
    terse_status status = api_of(w)->decide(e->x, &facts, &decision);
    if (status < 0) {
        complain(w, req, "no decision (status %d), sent as it is", (int)status);
        notes_decision(req, NULL, NULL);
    } else if (take_body(e, slot, &facts, &decision)) {
        return;
    }
    exchange_over(e, TERSE_DONE);
    h2o_setup_next_ostream(req, slot);
}

void filter_on_setup(h2o_filter_t *self, h2o_req_t *req, h2o_ostream_t **slot)
{
    const struct filter *f = (struct filter *)self;
    struct worker *w = worker_of(f->shim, req->conn->ctx);
    if (w && w->pool)
        decide(f, w, req, slot);
    else
        h2o_setup_next_ostream(req, slot);
}
