/* SPDX-License-Identifier: MIT */
/* What the plugin is told of a request and its response. */
#include "shim.h"

/* Content-Length as the header has it; -1: none, or not a number. */
static int64_t length_header(const request_st *r)
{
    const buffer *b =
        http_header_response_get(r, HTTP_HEADER_CONTENT_LENGTH, CONST_STR_LEN("Content-Length"));
    int64_t n = 0;
    if (!b || buffer_is_blank(b) || buffer_clen(b) > 18)
        return -1;
    for (const char *c = b->ptr; *c; c++) {
        if (!light_isdigit(*c))
            return -1;
        n = n * 10 + (*c - '0');
    }
    return n;
}

/* Whether a backend stopped before the end of what it had announced.  The server sends such a body
 * in a way that shows it, which coding would cover up. */
bool facts_cut_short(const request_st *r)
{
    int64_t announced = length_header(r);
    if (r->http_method == HTTP_METHOD_HEAD || !r->resp_body_finished)
        return false;
    return r->resp_body_scratchpad > 0 || (r->gw_dechunk && !r->gw_dechunk->done) ||
           (announced >= 0 && announced != chunkqueue_length(&r->write_queue));
}

static void tell_body(const request_st *r, terse_facts *f)
{
    bool head = r->http_method == HTTP_METHOD_HEAD;
    bool framed = light_btst(r->resp_htags, HTTP_HEADER_TRANSFER_ENCODING);
    f->length = chunkqueue_length(&r->write_queue);
    if (!r->resp_body_finished || (head && f->length == 0))
        f->length = length_header(r);
    if (framed || facts_cut_short(r) || (!r->resp_body_finished && !head && !source_usable(r)))
        f->flags |= TERSE_FACT_NO_ACCESS;
    else if (f->length >= 0 && r->resp_body_finished)
        f->flags |= TERSE_FACT_COMPLETE;
}

void facts_tell(struct turn *t, struct shim *s, request_st *r, struct exchange *e)
{
    static const uint32_t versions[] = {10, 11, 20, 30};
    const buffer *method = http_method_buf(r->http_method);
    unsigned version = (unsigned)r->http_version;
    *t = (struct turn){.s = s, .r = r, .e = e};
    t->decision.struct_size = sizeof t->decision;
    t->facts = (terse_facts){
        .struct_size = sizeof t->facts,
        .policy = e->policy,
        .pool = s->pool,
        .header = header_line,
        .header_ctx = r,
        .method = {method->ptr, buffer_clen(method)},
        .http_version = version < sizeof versions / sizeof versions[0] ? versions[version] : 10,
        .length = -1,
        .body_limit = (uint64_t)r->conf.max_request_size << 10,
    };
}

void facts_tell_response(struct turn *t, struct shim *s, request_st *r, struct exchange *e)
{
    facts_tell(t, s, r, e);
    t->facts.status = r->http_status ? (uint32_t)r->http_status : 200;
    tell_body(r, &t->facts);
}
