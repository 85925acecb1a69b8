/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "say.h"

/* The longest text that is made up. */
#define MADE_UP_MAX (64u << 20)

struct run {
    struct session *s;
    const terse_api *api;
    const struct message *m;
    struct outcome *out;
    struct headers headers; /* as the request's edits have left them */
    terse_exchange *x;
    terse_facts facts;
    terse_str body; /* as far as it is at hand */
    char *made_up;
};

static int failed(const char *call, terse_status status)
{
    return complain("%s: %s (status %d)", call, status_words(status), (int)status);
}

static int keep(struct outcome *out, terse_str *text)
{
    char *copy = malloc(text->len + 1);
    if (!copy)
        return complain("no memory");
    memcpy(copy, text->ptr, text->len);
    copy[text->len] = '\0';
    text->ptr = copy;
    out->copies[out->n_copies++] = copy;
    return 0;
}

/* Edits live until the plugin is called again: copied at once, as every shim does. */
static int keep_edits(struct outcome *out, const terse_decision *d, terse_edit *list,
                      unsigned *count)
{
    *count = 0;
    if (d->n_edits > EDITS_MAX)
        return complain("%u edits", (unsigned)d->n_edits);
    for (unsigned i = 0; i < d->n_edits; i++) {
        list[i] = d->edits[i];
        if (keep(out, &list[i].name) != 0 || keep(out, &list[i].value) != 0)
            return -1;
        *count = i + 1;
    }
    return 0;
}

static void drop_response_edits(struct outcome *out)
{
    while (out->n_copies > 2 * out->n_request_edits)
        free(out->copies[--out->n_copies]);
    out->n_response_edits = 0;
}

static void new_decision(struct run *r)
{
    drop_response_edits(r->out);
    memset(&r->out->decision, 0, sizeof r->out->decision);
    r->out->decision.struct_size = sizeof r->out->decision;
}

static int keep_decision(struct run *r)
{
    struct outcome *out = r->out;
    out->action = out->decision.action;
    return keep_edits(out, &out->decision, out->response_edits, &out->n_response_edits);
}

static int edit_request(struct run *r)
{
    struct outcome *out = r->out;
    terse_edit *list = out->request_edits + out->n_request_edits;
    unsigned n;
    if (out->decision.n_edits > EDITS_MAX - out->n_request_edits)
        return complain("%u edits", (unsigned)out->decision.n_edits);
    if (keep_edits(out, &out->decision, list, &n) != 0)
        return -1;
    out->n_request_edits += n;
    for (unsigned i = 0; i < n; i++)
        if (headers_edit(&r->headers, &list[i]) != 0)
            return -1;
    return 0;
}

/* The request's body is not at hand: it is taken for a good one. */
static int take_for_decoded(struct run *r)
{
    r->out->uncoded = true;
    new_decision(r);
    terse_status status = r->api->request_body(r->x, &r->facts, TERSE_END, 0, &r->out->decision);
    return status < 0 ? failed("request_body", status) : edit_request(r);
}

static int ask_request(struct run *r)
{
    struct outcome *out = r->out;
    new_decision(r);
    terse_status status = r->api->request(r->x, &r->facts, &out->decision);
    if (status < 0)
        return failed("request", status);
    if (out->decision.action == TERSE_REPLY)
        return keep_decision(r);
    bool uncode = out->decision.action == TERSE_UNCODE;
    if (edit_request(r) != 0)
        return -1;
    return uncode ? take_for_decoded(r) : 0;
}

static int ask_decide(struct run *r)
{
    r->facts.status = r->m->status;
    r->facts.length = r->m->length;
    r->facts.flags = r->m->whole ? TERSE_FACT_COMPLETE : 0;
    new_decision(r);
    terse_status status = r->api->decide(r->x, &r->facts, &r->out->decision);
    if (status < 0)
        return failed("decide", status);
    return keep_decision(r);
}

/* Words of a few letters: what any coding shrinks, for a body that is not at hand. */
static int make_up(struct run *r, uint64_t len)
{
    uint32_t x = 1;
    char *text = len <= MADE_UP_MAX ? malloc((size_t)len + 1) : NULL;
    if (!text)
        return complain("a body of %llu bytes is too long to make up: give --file",
                        (unsigned long long)len);
    for (size_t i = 0; i < len; i++) {
        x = x * 1103515245u + 12345u;
        text[i] = (x >> 16) % 6 ? (char)('a' + (x >> 20) % 12) : ' ';
    }
    free(r->made_up);
    r->made_up = text;
    r->body = (terse_str){text, (size_t)len};
    return 0;
}

static int ask_more(struct run *r)
{
    uint64_t need = r->out->decision.need, length = (uint64_t)r->m->length;
    int32_t how = 0; /* there is more */
    if (!r->m->body && make_up(r, r->m->length >= 0 && length < need ? length : need) != 0)
        return -1;
    terse_str bytes = r->body;
    if (need < bytes.len)
        bytes.len = (size_t)need;
    else if (r->m->body || (r->m->length >= 0 && length <= need))
        how = 1; /* they are all */
    new_decision(r);
    terse_status status = r->api->decide_more(r->x, &r->facts, bytes, how, &r->out->decision);
    if (status < 0)
        return failed("decide_more", status);
    return keep_decision(r);
}

static int code_whole(struct run *r)
{
    terse_str coded = {NULL, 0};
    if (!r->m->body && make_up(r, r->m->length >= 0 ? (uint64_t)r->m->length : r->body.len) != 0)
        return -1;
    new_decision(r);
    terse_status status = r->api->encode_whole(r->x, &r->facts, r->body, &coded, &r->out->decision);
    if (status < 0)
        return failed("encode_whole", status);
    return keep_decision(r);
}

/* Runs one piece of the body through; 0, or a status below it. */
static terse_status run_piece(struct run *r, terse_stream *stream, terse_in *in, terse_out *room,
                              int32_t operation)
{
    terse_status status;
    do {
        room->pos = 0;
        status = r->api->stream_run(stream, operation, in, room, NULL);
    } while (status == TERSE_MORE);
    return status < 0 ? status : 0;
}

static terse_status run_stream(struct run *r, terse_stream *stream, terse_out *room)
{
    uint64_t piece = r->out->decision.piece;
    terse_in in = {r->body.ptr, 0, 0};
    terse_status status;
    do {
        size_t left = r->body.len - in.pos;
        in.len = in.pos + (piece && piece < left ? (size_t)piece : left);
        status = run_piece(r, stream, &in, room, in.len == r->body.len ? TERSE_FINISH : TERSE_RUN);
    } while (status == 0 && in.len < r->body.len);
    return status;
}

static int code_stream(struct run *r)
{
    const char *coding = r->out->decision.coding ? r->out->decision.coding : "";
    terse_spec spec = {.struct_size = sizeof spec,
                       .direction = TERSE_ENCODE,
                       .policy = r->s->policy,
                       .exchange = r->x,
                       .coding = {coding, strlen(coding)},
                       .length = r->m->length};
    terse_out room;
    terse_stream *stream;
    terse_status status = r->api->pool_lend(r->s->pool, 65536, &room);
    if (status < 0)
        return failed("pool_lend", status);
    status = r->api->stream_open(r->s->pool, &spec, &stream);
    if (status >= 0) {
        status = run_stream(r, stream, &room);
        r->api->stream_free(stream);
    }
    r->api->pool_return(r->s->pool, room.ptr);
    return status < 0 ? failed(coding, status) : 0;
}

static int follow(struct run *r)
{
    if (r->out->decision.action == TERSE_PEEK && ask_more(r) != 0)
        return -1;
    if (r->out->decision.action == TERSE_STREAM)
        return r->m->body ? code_stream(r) : 0;
    if (r->out->decision.action != TERSE_WHOLE)
        return 0;
    if (code_whole(r) != 0)
        return -1;
    r->out->action = TERSE_WHOLE;
    return 0;
}

int exchange_run(struct session *s, const struct message *m, struct outcome *out)
{
    struct run r = {.s = s, .api = s->plugin.api, .m = m, .out = out};
    r.headers = m->headers;
    r.body = (terse_str){m->body, m->body_len};
    memset(out, 0, sizeof *out);
    out->account.struct_size = sizeof out->account;
    r.x = calloc(1, r.api->exchange_size);
    if (!r.x)
        return complain("no memory");
    r.facts = (terse_facts){.struct_size = sizeof r.facts,
                            .policy = s->policy,
                            .pool = s->pool,
                            .header = headers_find,
                            .header_ctx = &r.headers,
                            .method = {m->method, strlen(m->method)},
                            .http_version = m->http_version,
                            .length = -1};
    int result = ask_request(&r);
    if (result == 0 && out->action != TERSE_REPLY)
        result = ask_decide(&r);
    if (result == 0)
        result = follow(&r);
    r.api->exchange_end(r.x, result == 0 ? TERSE_DONE : TERSE_ABORTED, &out->account);
    free(r.x);
    free(r.made_up);
    return result;
}

void outcome_free(struct outcome *out)
{
    while (out->n_copies > 0)
        free(out->copies[--out->n_copies]);
}
