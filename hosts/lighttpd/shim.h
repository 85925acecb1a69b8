/* SPDX-License-Identifier: MIT */
/* What the module keeps: one per load, one per request. */
#ifndef TERSE_SHIM_H
#define TERSE_SHIM_H

#include "server.h"

#include <stdbool.h>

#include "limit.h"
#include "loader.h"

struct derived;
struct scope;

/* Which policy holds for a request: the global one, and over it those of the matched blocks. */
struct scopes {
    bool enable;             /* globally */
    terse_policy *base;      /* of the global scope */
    terse_policy **overlays; /* of the blocks that have params, in the order of configuration */
    struct scope *blocks;    /* the blocks that say anything at all */
    uint32_t n_overlays;
    uint32_t n_blocks;
    uint32_t words; /* of a set of overlays */
    uint64_t clock;
    uint64_t *matched;          /* scratch: the set of this request */
    const terse_policy **chain; /* scratch: the same as a list */
    struct derived *derived;    /* policies of sets that were met lately */
};

/* State of one request and its response. */
struct exchange {
    struct exchange *next; /* in the list of spare ones */
    terse_exchange *x;     /* behind this struct */
    const terse_policy *policy;
    terse_stream *stream; /* while a body is coded piece by piece */
    chunkqueue body;      /* what of it is still to be coded */
    uint64_t piece;       /* most bytes for one turn */
    uint64_t bytes_in;
    uint64_t bytes_out;
    bool off;   /* no more calls into the plugin but the last one */
    bool ended; /* that one was made */
};

struct shim {
    PLUGIN_DATA;
    server *srv;
    struct terse_plugin plugin;
    terse_host host;
    struct scopes scopes;
    terse_pool *pool; /* this worker's; NULL before the last fork */
    terse_out in;     /* lent by it: for what comes from files */
    terse_out block;  /* lent by it: for coded bytes */
    struct exchange *spare;
    uint32_t n_spare;
    struct terse_limit complaints;
    char why[TERSE_WHY_SIZE]; /* why the plugin was refused */
};

static inline const terse_api *api_of(const struct shim *s)
{
    return s->plugin.api;
}

/* config.c: directives.  The first loads the plugin, while every file can still be reached. */
handler_t config_load(server *srv, struct shim *s);
handler_t config_apply(server *srv, struct shim *s);

/* scopes.c: the policy of a request, NULL where Terse is off. */
struct scope {
    int context;     /* of the server's configuration */
    int enable;      /* -1: not said */
    int64_t overlay; /* index into overlays; -1: no params */
};
int scopes_prepare(struct scopes *scopes, uint32_t n_contexts);
const terse_policy *scopes_policy(struct shim *s, request_st *r);
void scopes_free(struct shim *s);

/* exchange.c */
void exchange_request(struct shim *s, request_st *r);
void exchange_response(struct shim *s, request_st *r);
/* Ends it for the plugin; once, whoever calls first. */
void exchange_over(struct shim *s, request_st *r, struct exchange *e, int32_t how);
void exchange_reset(struct shim *s, request_st *r);
void exchange_free_spare(struct shim *s);

/* One question to the plugin and what came back. */
struct turn {
    struct shim *s;
    request_st *r;
    struct exchange *e;
    terse_facts facts;
    terse_decision decision;
    terse_out lent; /* goes back to the pool last: until then the edits are good */
};
/* Edits, status, length and notes of a decision whose body stays, or is in place already. */
void turn_apply(const struct turn *t);
/* The body cannot be had: asks for the response as it is, without it. */
void turn_give_up(struct turn *t);

/* headers.c */
int32_t header_line(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                    terse_str *value);
void headers_edit(request_st *r, const terse_edit *edits, uint32_t n);
/* Makes the edits of a decision outlive the next call into the plugin.  False: too many. */
struct kept_edits {
    terse_edit list[64];
    size_t used;
    char bytes[16384];
};
bool headers_keep(struct kept_edits *kept, terse_decision *d);
void headers_set_length(request_st *r, int64_t length);

/* body.c */
/* Up to limit bytes of the queue's front: in place, or read into buf of size bytes.  They stay in
 * the queue.  False when the file behind them cannot be read so far. */
bool body_front(request_st *r, const chunkqueue *q, size_t limit, const terse_out *buf,
                terse_str *bytes);
/* The first len bytes of the body in one piece: in place, or in t->lent. */
bool body_peek(struct turn *t, size_t len, terse_str *bytes);
void body_drop(request_st *r);
void body_replace(request_st *r, terse_str bytes);
/* Codes the body in one call. */
void body_whole(struct turn *t);

/* slices.c: bodies coded piece by piece.  The buffers are borrowed once for each worker. */
bool slices_prepare(struct shim *s);
void slices_free(struct shim *s);
void slices_start(struct turn *t);
handler_t slices_run(struct shim *s, request_st *r);
/* The connection is closed: it gets no turn any more. */
void slices_forget(connection *con);

/* guard.c: whether the server's structs are as this module was compiled for. */
bool guard_layout(server *srv);

/* notes.c: what the access log, the status page and the error log get to see. */
void notes_decision(request_st *r, const char *coding, const char *reason);
void notes_ratio(request_st *r, uint64_t bytes_in, uint64_t bytes_out);
void notes_counters(const struct shim *s);
void notes_start(server *srv, const struct shim *s);
/* One line about one request; at most one a second. */
__attribute__((format(printf, 3, 4))) void complain(struct shim *s, const request_st *r,
                                                    const char *format, ...);

#endif
