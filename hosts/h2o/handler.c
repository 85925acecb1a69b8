/* SPDX-License-Identifier: MIT */
/* First of a path's handlers: shows the plugin the request, and edits it. */
#include "shim.h"

/* The plugin's answer stands in for that of the handlers behind; it goes through the filters. */
int handler_reply(struct exchange *e, const terse_decision *d)
{
    h2o_iovec_t body = h2o_strdup(&e->req->pool, d->body.ptr, d->body.len);
    exchange_apply(e, d);
    h2o_send_inline(e->req, body.base, body.len);
    return 0;
}

int handler_on_req(h2o_handler_t *self, h2o_req_t *req)
{
    const struct filter *f = ((struct handler *)self)->filter;
    struct worker *w = worker_of(f->shim, req->conn->ctx);
    terse_decision decision = {.struct_size = sizeof decision};
    terse_facts facts;
    if (!w || !w->pool)
        return -1;
    struct exchange *e = exchange_of(w, req, f->policy);
    exchange_facts(e, &facts);
    if (api_of(w)->request(e->x, &facts, &decision) < 0)
        return -1;
    if (decision.action == TERSE_REPLY)
        return handler_reply(e, &decision);
    headers_edit(req, decision.edits, decision.n_edits);
    if (decision.action == TERSE_UNCODE)
        return request_decode(e, self);
    return -1; /* the next handler's turn */
}
