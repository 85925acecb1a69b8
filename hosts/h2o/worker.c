/* SPDX-License-Identifier: MIT */
/* What belongs to one thread.  It is made when H2O makes the thread's context, which is after the
 * last fork (ABI.md H3), and found through a slot of that context: nothing is shared or locked. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_tick(h2o_timeout_entry_t *entry)
{
    struct worker *w = H2O_STRUCT_FROM_MEMBER(struct worker, tick, entry);
    uint64_t begin = terse_call_begins(TERSE_CALL_ALWAYS);
    api_of(w)->pool_tick(w->pool, h2o_now(w->ctx->loop));
    terse_call_ends(&w->calls, begin);
    h2o_timeout_link(w->ctx->loop, &w->ctx->one_sec_timeout, &w->tick);
}

static struct worker *make(struct shim *s, h2o_context_t *ctx)
{
    struct worker *w = h2o_mem_alloc(sizeof *w);
    memset(w, 0, sizeof *w);
    w->shim = s;
    w->ctx = ctx;
    const terse_policy *policy = s->pools ? s->pools : s->base;
    terse_status status = s->plugin.api->pool_new(s->plugin.instance, policy, &w->pool);
    if (status < 0) {
        w->pool = NULL;
        fprintf(stderr, "[terse] %s: no memory for this thread (status %d), it goes without\n",
                s->plugin.path, (int)status);
        return w;
    }
    w->tick.cb = on_tick;
    h2o_timeout_link(ctx->loop, &ctx->one_sec_timeout, &w->tick);
    return w;
}

void worker_enter(struct shim *s, h2o_context_t *ctx)
{
    struct worker *w = worker_of(s, ctx);
    if (!w)
        ctx->_module_configs[s->slot] = w = make(s, ctx);
    w->filters++;
}

/* Requests that outlive their context still have exchanges to end. */
void worker_unused(struct worker *w)
{
    if (w->filters > 0 || w->exchanges > 0)
        return;
    if (w->pool)
        api_of(w)->pool_free(w->pool);
    free(w);
}

void worker_leave(struct shim *s, h2o_context_t *ctx)
{
    struct worker *w = worker_of(s, ctx);
    if (!w || --w->filters > 0)
        return;
    ctx->_module_configs[s->slot] = NULL;
    h2o_timeout_unlink(&w->tick);
    for (size_t i = 0; i < w->n_delays; i++)
        if (h2o_linklist_is_empty(&w->delays[i]._entries))
            h2o_timeout_dispose(ctx->loop, &w->delays[i]);
    worker_unused(w);
}

/* H2O keeps one list for each length of time.  Where there are many, the last one must do. */
h2o_timeout_t *worker_delay(struct worker *w, uint64_t ms)
{
    for (size_t i = 0; i < w->n_delays; i++)
        if (w->delays[i].timeout == ms || i + 1 == DELAYS)
            return &w->delays[i];
    h2o_timeout_t *delay = &w->delays[w->n_delays++];
    h2o_timeout_init(w->ctx->loop, delay, ms);
    return delay;
}
