/* SPDX-License-Identifier: MIT */
/* One request and its response, as the plugin knows them. */
#include "shim.h"

#include <string.h>

#define ALIGNED(n)                                                                                 \
    (((n) + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t))
#define X_OFFSET ALIGNED(sizeof(struct exchange))

/* It is a prefilter only to be found. */
static void on_setup_prefilter(h2o_req_prefilter_t *self, h2o_req_t *req, h2o_ostream_t **slot)
{
    h2o_setup_next_prefilter(self, req, slot);
}

void exchange_over(struct exchange *e, int32_t how)
{
    terse_outcome outcome = {.struct_size = sizeof outcome};
    if (e->ended)
        return;
    e->ended = true;
    api_of(e->worker)->exchange_end(e->x, how, &outcome);
    if (how == TERSE_SOURCE_BROKE && outcome.reason_name)
        notes_decision(e->req, outcome.coding, outcome.reason_name);
}

/* The request's memory goes: nothing that was lent is being sent any more. */
static void dispose(void *memory)
{
    struct exchange *e = memory;
    struct worker *w = e->worker;
    e->req = NULL;
    if (!e->ended)
        api_of(w)->exchange_end(e->x, TERSE_ABORTED, NULL);
    api_of(w)->pool_return(w->pool, e->held.ptr);
    api_of(w)->pool_return(w->pool, e->coded.ptr);
    api_of(w)->policy_unref(e->policy);
    w->exchanges--;
    worker_unused(w);
}

static struct exchange *begin(struct worker *w, h2o_req_t *req, const terse_policy *policy)
{
    size_t size = X_OFFSET + api_of(w)->exchange_size;
    struct exchange *e = h2o_mem_alloc_shared(&req->pool, size, dispose);
    memset(e, 0, size);
    e->prefilter.on_setup_ostream = on_setup_prefilter;
    e->prefilter.next = req->prefilters;
    req->prefilters = &e->prefilter;
    e->worker = w;
    e->req = req;
    e->policy = policy;
    e->x = (terse_exchange *)((char *)e + X_OFFSET);
    api_of(w)->policy_ref(policy);
    w->exchanges++;
    return e;
}

/* A request that H2O turns back to its start keeps its exchange, and so its policy; one whose
 * response was given up gets a new one. */
struct exchange *exchange_of(struct worker *w, h2o_req_t *req, const terse_policy *policy)
{
    for (h2o_req_prefilter_t *p = req->prefilters; p; p = p->next)
        if (p->on_setup_ostream == on_setup_prefilter) {
            struct exchange *e = H2O_STRUCT_FROM_MEMBER(struct exchange, prefilter, p);
            return e->ended ? begin(w, req, policy) : e;
        }
    return begin(w, req, policy);
}

void exchange_facts(struct exchange *e, terse_facts *facts)
{
    h2o_req_t *req = e->req;
    unsigned version = (unsigned)req->version;
    *facts = (terse_facts){
        .struct_size = sizeof *facts,
        .policy = e->policy,
        .pool = e->worker->pool,
        .header = headers_line,
        .header_ctx = req,
        .method = {req->input.method.base, req->input.method.len},
        .http_version = (version >> 8) * 10 + (version & 0xff),
        .length = -1,
        .body_limit = req->conn->ctx->globalconf->max_request_entity_size,
    };
}

void exchange_apply(struct exchange *e, const terse_decision *d)
{
    h2o_req_t *req = e->req;
    headers_edit(req, d->edits, d->n_edits);
    if (d->status && (int)d->status != req->res.status) {
        req->res.status = (int)d->status;
        req->res.reason = ""; /* that of the old status would be a lie; none is fine */
    }
    if (d->length == TERSE_LENGTH_UNKNOWN)
        req->res.content_length = SIZE_MAX;
    else if (d->length >= 0)
        req->res.content_length = (size_t)d->length;
    notes_decision(req, d->coding, d->reason_name);
}
