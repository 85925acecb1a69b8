/* SPDX-License-Identifier: MIT */
/* What the module keeps: one per load, one per request. */
#ifndef TERSE_SHIM_H
#define TERSE_SHIM_H

#include "server.h"

#include <stdbool.h>

#include "call_time.h"
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

/* Gives a request a turn at a time, in milliseconds of timer_now. */
struct timer {
    struct timer *next, *previous;
    request_st *r;
    uint64_t at; /* 0: not set */
    bool due;    /* it came */
};

struct timers {
    server *srv;
    struct fdnode_st *node; /* NULL: there are none */
    int fd;
    uint64_t armed;
    struct timer *first, *last;
};

/* Where a body comes from that was not complete when its response began. */
struct source {
    struct exchange *next, *previous; /* in the list of live ones */
    request_st *r;
    server_handler *inner; /* the module that makes the body; NULL: none, or not any more */
    uint64_t need;         /* bytes to be had before the response may begin */
    unsigned short hidden; /* what the server is not to know of: that the response streams */
    signed char chunked;   /* it comes in chunks */
    bool context; /* the inner module keeps something for the request, as long as it lives */
    bool streams; /* there is, or was one: the server is to send what comes as it comes */
    bool held;    /* the response was held back */
    bool ended;
    bool broken;
};

/* Names of trailers that are not to be passed on, each behind its length. */
struct dropped {
    size_t len;
    char names[96];
};

/* A request's body: as it came, to be decoded, and how far that is. */
enum request_state { REQUEST_PLAIN, REQUEST_AWAITED, REQUEST_COMPLETE };

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
    struct source source;
    struct timer timer;
    uint64_t stale_at; /* flush by then, whether the source pauses or not; 0: nothing to flush */
    uint32_t idle;     /* calls in a row that moved nothing */
    bool more;         /* the codec has more to give of what it took */
    uint32_t flush_ms; /* flush when it pauses for so long; 0: nothing to flush */
    struct dropped dropped;
    enum request_state request;
    server_handler *waiting; /* who had the request before its body was awaited */
    bool paused;             /* it had paused before the body was coded */
    bool refused;            /* it was answered, and an error document may be wanted instead */
    bool off;                /* no more calls into the plugin but the last one */
    bool ended;              /* that one was made */
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
    struct exchange *live; /* those with a source */
    struct timers timers;
    struct terse_limit complaints;
    struct terse_call_time calls;
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

struct turn;

/* request.c */
/* The plugin is to decode the request's body. */
void request_take(struct turn *t);
/* Somebody answers before the body was decoded: it is not wanted any more. */
void request_drop(struct exchange *e);
/* One turn of it. */
handler_t request_run(struct shim *s, request_st *r, struct exchange *e);

/* exchange.c */
/* The plugin's answer in place of a response. */
void exchange_reply(struct turn *t);
/* True: the plugin has answered. */
bool exchange_request(struct shim *s, request_st *r);
void exchange_response(struct shim *s, request_st *r);
/* Ends it for the plugin; once, whoever calls first. */
void exchange_over(struct shim *s, request_st *r, struct exchange *e, int32_t how);
void exchange_reset(struct shim *s, request_st *r);
/* A body has begun to come: how many bytes of it the plugin will want before it decides, and how
 * long they may be waited for (0: as long as it takes).  UINT64_MAX: all; 0: none. */
uint64_t exchange_foresee(struct shim *s, request_st *r, struct exchange *e, uint32_t *hold_ms);
void exchange_free_spare(struct shim *s);

/* One question to the plugin and what came back. */
struct turn {
    struct shim *s;
    request_st *r;
    struct exchange *e;
    terse_facts facts;
    terse_decision decision;
    bool paused;    /* the plugin was told that the source has paused */
    terse_out lent; /* goes back to the pool last: until then the edits are good */
};
/* Edits, status, length and notes of a decision whose body stays, or is in place already. */
void turn_apply(const struct turn *t);
/* The body cannot be had: asks for the response as it is, without it. */
void turn_give_up(struct turn *t);

/* facts.c */
void facts_tell(struct turn *t, struct shim *s, request_st *r, struct exchange *e);
void facts_tell_response(struct turn *t, struct shim *s, request_st *r, struct exchange *e);
/* Whether a backend stopped before the end of what it had announced. */
bool facts_cut_short(const request_st *r);

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

/* trailers.c */
/* Takes note of a decision's edits of trailers, for when these have come. */
void trailers_note(struct exchange *e, const terse_decision *d);
/* They have come.  They are in the form in which HTTP/1.1 sends them. */
void trailers_edit(request_st *r, const struct exchange *e);
/* The server is to make headers of them. */
void trailers_mend(request_st *r);

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

/* One turn of a body that is coded. */
struct work {
    struct shim *s;
    request_st *r;
    struct exchange *e;
    uint64_t taken; /* bytes, in this turn */
    bool whole;     /* nothing will be added to the queue */
    bool end;       /* the coded body is complete */
};

/* coding.c: bytes.  The buffers are borrowed once for each worker. */
bool coding_prepare(struct shim *s);
void coding_free(struct shim *s);
bool coding_open(struct turn *t);
/* Codes up to most bytes.  TERSE_DONE; TERSE_SOURCE_BROKE or TERSE_ABORTED: this body cannot be
 * finished. */
int32_t coding_piece(struct work *w, size_t most, size_t *taken);
int32_t coding_flush(struct work *w);

/* source.c: bodies that come in parts. */
bool source_usable(const request_st *r);
/* The request has found its handler, perhaps. */
void source_guard(struct shim *s, request_st *r);
handler_t source_await(struct shim *s, request_st *r, struct exchange *e);
void source_start(struct turn *t);
/* Takes what has come.  TERSE_DONE, or TERSE_SOURCE_BROKE. */
int32_t source_pull(struct shim *s, request_st *r, struct exchange *e);
void source_close(request_st *r);
void source_forget(struct shim *s, struct exchange *e);
void source_trigger(struct shim *s);

/* timer.c */
uint64_t timer_now(void);
bool timer_prepare(server *srv, struct timers *timers);
void timer_free(struct timers *timers);
void timer_set(struct timers *timers, struct timer *timer, request_st *r, uint64_t at);
void timer_stop(struct timers *timers, struct timer *timer);

/* slices.c: bodies coded piece by piece. */
void slices_start(struct turn *t);
/* A body that was cut before its response began: it leaves, and does not end well. */
void slices_break(struct turn *t);
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
