/* SPDX-License-Identifier: MIT */
/* What the shim keeps: one per configuration, one per thread, one per request, one per body. */
#ifndef TERSE_SHIM_H
#define TERSE_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#include <h2o.h>

#include "call_time.h"
#include "limit.h"
#include "loader.h"

#define EXPORT __attribute__((visibility("default")))

/* One per h2o_globalconf_t; written during configuration only. */
struct shim {
    struct shim *next;
    h2o_globalconf_t *conf;
    struct terse_plugin plugin; /* plugin.api is NULL until it is loaded */
    terse_host host;
    terse_policy *base;  /* the defaults, as the outermost level */
    terse_policy *pools; /* what the configuration's own level says; NULL: the defaults */
    size_t slot;         /* of the worker in a context's module configs */
    size_t users;        /* configurator and filters */
};

#define DELAYS 4

/* One per h2o_context_t, which is one thread. */
struct worker {
    struct shim *shim;
    h2o_context_t *ctx;
    terse_pool *pool;
    size_t filters;   /* of this context that are alive */
    size_t exchanges; /* that are alive */
    h2o_timeout_entry_t tick;
    h2o_timeout_t delays[DELAYS];
    size_t n_delays;
    struct terse_limit complaints;
    struct terse_call_time calls;
};

struct filter {
    h2o_filter_t super;
    struct shim *shim;
    terse_policy *policy;
};

struct handler {
    h2o_handler_t super;
    struct filter *filter; /* of the same path */
};

/* One per response.  H2O keeps prefilters with the request: being one, it is found again. */
struct exchange {
    h2o_req_prefilter_t prefilter;
    struct worker *worker;
    h2o_req_t *req;
    const terse_policy *policy;
    terse_exchange *x;
    terse_out held;  /* lent: bytes of the source that had to be kept */
    terse_out coded; /* lent: what the codec gave */
    bool ended;
};

static inline const terse_api *api_of(const struct worker *w)
{
    return w->shim->plugin.api;
}

/* shim.c: the configuration's side. */
struct shim *shim_of(const h2o_globalconf_t *conf);
struct shim *shim_take(h2o_globalconf_t *conf); /* makes it at need; counts one user more */
void shim_release(struct shim *s);
int shim_load(struct shim *s, const char *plugin, char *why, size_t why_len);
/* Adds filter and handler to a path; takes a count of the policy of its own. */
void shim_add(struct shim *s, h2o_pathconf_t *pathconf, terse_policy *policy);

/* policy.c: settings. */
int policy_pair(struct shim *s, terse_policy *policy, const char *key, const char *value, char *why,
                size_t why_len);
terse_policy *policy_start(struct shim *s, char *why, size_t why_len);
/* Seals overlay and lays it over outer.  NULL with words in why; overlay is used up. */
terse_policy *policy_finish(struct shim *s, const terse_policy *outer, terse_policy *overlay,
                            char *why, size_t why_len);

/* guard.c: whether this H2O is laid out as the headers say. */
int guard_check(const h2o_globalconf_t *conf, char *why, size_t why_len);

/* worker.c */
void worker_enter(struct shim *s, h2o_context_t *ctx);
void worker_leave(struct shim *s, h2o_context_t *ctx);
static inline struct worker *worker_of(const struct shim *s, const h2o_context_t *ctx)
{
    return ctx->_module_configs[s->slot];
}
h2o_timeout_t *worker_delay(struct worker *w, uint64_t ms);
void worker_unused(struct worker *w); /* frees it when nothing needs it any more */

/* exchange.c */
struct exchange *exchange_of(struct worker *w, h2o_req_t *req, const terse_policy *policy);
void exchange_facts(struct exchange *e, terse_facts *facts);
void exchange_over(struct exchange *e, int32_t how);
/* Edits, status, length and notes of a decision. */
void exchange_apply(struct exchange *e, const terse_decision *d);

/* handler.c, filter.c: the hooks. */
int handler_on_req(h2o_handler_t *self, h2o_req_t *req);
/* The plugin's answer in place of the next handlers'; returns 0. */
int handler_reply(struct exchange *e, const terse_decision *d);
/* request.c: has the body decoded; -1 when that is done and the next handler is to go on, 0 when it
 * takes longer, or was refused. */
int request_decode(struct exchange *e, h2o_handler_t *handler);
void filter_on_setup(h2o_filter_t *self, h2o_req_t *req, h2o_ostream_t **slot);

/* headers.c */
int32_t headers_line(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                     terse_str *value);
void headers_edit(h2o_req_t *req, const terse_edit *edits, uint32_t n);

/* status.c */
void status_register(struct shim *s);

/* notes.c */
void notes_decision(h2o_req_t *req, const char *coding, const char *reason);
void notes_start(const struct shim *s);
void notes_log(void *data, int32_t level, const char *msg, size_t len);
__attribute__((format(printf, 3, 4))) void complain(struct worker *w, h2o_req_t *req,
                                                    const char *format, ...);

#endif
