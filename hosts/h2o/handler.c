/* SPDX-License-Identifier: MIT */
/* First of a path's handlers: shows the plugin the request, and edits it. */
#include "shim.h"

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
    if (api_of(w)->request(e->x, &facts, &decision) >= 0)
        headers_edit(req, decision.edits, decision.n_edits);
    return -1; /* the next handler's turn */
}
