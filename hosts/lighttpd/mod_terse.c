/* SPDX-License-Identifier: MIT */
/* The hooks that lighttpd calls. */
#include "shim.h"

#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static void *hook_init(void)
{
    return calloc(1, sizeof(struct shim));
}

/* Called before chroot() and setuid(): from here on no file of ours is opened. */
static handler_t hook_priv_defaults(server *srv, void *p_d)
{
    return config_load(srv, p_d);
}

/* Called when the error log is open. */
static handler_t hook_set_defaults(server *srv, void *p_d)
{
    struct shim *s = p_d;
    if (!guard_layout(srv))
        return HANDLER_ERROR;
    if (config_apply(srv, s) != HANDLER_GO_ON)
        return HANDLER_ERROR;
    notes_start(srv, s);
    return HANDLER_GO_ON;
}

/* Called in each process that serves, after its fork (ABI.md A4). */
static handler_t hook_worker_init(server *srv, void *p_d)
{
    struct shim *s = p_d;
    terse_status status = api_of(s)->pool_new(s->plugin.instance, s->scopes.base, &s->pool);
    if (status < 0)
        s->pool = NULL;
    if (s->pool && coding_prepare(s) && timer_prepare(srv, &s->timers))
        return HANDLER_GO_ON;
    log_error(srv->errh, AT, "%s: no memory or no timer for this worker (status %d)",
              s->plugin.path, (int)status);
    return HANDLER_ERROR;
}

static void hook_cleanup(void *p_d)
{
    struct shim *s = p_d;
    exchange_free_spare(s);
    if (s->pool) {
        timer_free(&s->timers);
        coding_free(s);
        api_of(s)->pool_free(s->pool);
    }
    scopes_free(s);
    terse_unload(&s->plugin);
}

static handler_t hook_uri_clean(request_st *r, void *p_d)
{
    if (exchange_request(p_d, r))
        return HANDLER_FINISHED;
    source_guard(p_d, r);
    return HANDLER_GO_ON;
}

/* Called when the request is about to be served from a file, or a program that is one. */
static handler_t hook_subrequest_start(request_st *r, void *p_d)
{
    source_guard(p_d, r);
    return HANDLER_GO_ON;
}

static handler_t hook_response_start(request_st *r, void *p_d)
{
    exchange_response(p_d, r);
    return HANDLER_GO_ON;
}

static handler_t hook_subrequest(request_st *r, void *p_d)
{
    return slices_run(p_d, r);
}

static handler_t hook_request_reset(request_st *r, void *p_d)
{
    exchange_reset(p_d, r);
    return HANDLER_GO_ON;
}

static handler_t hook_connection_close(connection *con, void *p_d)
{
    (void)p_d;
    slices_forget(con);
    return HANDLER_GO_ON;
}

static handler_t hook_trigger(server *srv, void *p_d)
{
    struct shim *s = p_d;
    (void)srv;
    if (!s->pool) /* the parent of several workers serves nothing itself */
        return HANDLER_GO_ON;
    source_trigger(s);
    uint64_t begin = terse_call_begins(TERSE_CALL_ALWAYS);
    api_of(s)->pool_tick(s->pool, server_now_ms());
    terse_call_ends(&s->calls, begin);
    notes_counters(s);
    return HANDLER_GO_ON;
}

EXPORT int mod_terse_plugin_init(plugin *p);
int mod_terse_plugin_init(plugin *p)
{
    p->version = LIGHTTPD_VERSION_ID;
    p->name = "terse";
    p->init = hook_init;
    p->priv_defaults = hook_priv_defaults;
    p->set_defaults = hook_set_defaults;
    p->worker_init = hook_worker_init;
    p->cleanup = hook_cleanup;
    p->handle_uri_clean = hook_uri_clean;
    p->handle_subrequest_start = hook_subrequest_start;
    p->handle_response_start = hook_response_start;
    p->handle_subrequest = hook_subrequest;
    p->handle_request_reset = hook_request_reset;
    p->handle_connection_close = hook_connection_close;
    p->handle_trigger = hook_trigger;
    return 0;
}
