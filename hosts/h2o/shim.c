/* SPDX-License-Identifier: MIT */
/* One shim per configuration: the plugin, and the filters and handlers that use it. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "why.h"

static struct shim *shims; /* written during configuration, before there are threads */

struct shim *shim_of(const h2o_globalconf_t *conf)
{
    struct shim *s = shims;
    while (s && s->conf != conf)
        s = s->next;
    return s;
}

struct shim *shim_take(h2o_globalconf_t *conf)
{
    struct shim *s = shim_of(conf);
    if (!s) {
        s = h2o_mem_alloc(sizeof *s);
        memset(s, 0, sizeof *s);
        s->conf = conf;
        s->slot = conf->_num_config_slots++;
        s->next = shims;
        shims = s;
        status_register(s);
    }
    s->users++;
    return s;
}

void shim_release(struct shim *s)
{
    if (--s->users > 0)
        return;
    struct shim **at = &shims;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->base)
        s->plugin.api->policy_unref(s->base);
    if (s->pools)
        s->plugin.api->policy_unref(s->pools);
    terse_unload(&s->plugin);
    free(s);
}

static int make_base(struct shim *s, char *why, size_t why_len)
{
    terse_policy *policy = policy_start(s, why, why_len);
    if (policy)
        s->base = policy_finish(s, NULL, policy, why, why_len);
    return s->base ? 0 : -1;
}

int shim_load(struct shim *s, const char *plugin, char *why, size_t why_len)
{
    if (s->plugin.api) {
        if (!plugin)
            return 0;
        return terse_why(why, why_len, plugin, "another plugin is in use already: %s",
                         s->plugin.path);
    }
    s->host = (terse_host){.struct_size = sizeof s->host, .log = notes_log};
    if (terse_load(&s->plugin, plugin, &s->host, why, why_len) != 0)
        return -1;
    if (make_base(s, why, why_len) == 0)
        return 0;
    terse_unload(&s->plugin);
    return -1;
}

/* ---- filters and handlers ---------------------------------------------------------------------
 */

static void on_context_init(h2o_filter_t *self, h2o_context_t *ctx)
{
    worker_enter(((struct filter *)self)->shim, ctx);
}

static void on_context_dispose(h2o_filter_t *self, h2o_context_t *ctx)
{
    worker_leave(((struct filter *)self)->shim, ctx);
}

static void on_dispose(h2o_filter_t *self)
{
    struct filter *f = (struct filter *)self;
    f->shim->plugin.api->policy_unref(f->policy);
    shim_release(f->shim);
}

/* The request's headers are to be edited before any other handler reads them. */
static void add_handler(struct filter *f, h2o_pathconf_t *pathconf)
{
    struct handler *h = (struct handler *)h2o_create_handler(pathconf, sizeof *h);
    size_t others = pathconf->handlers.size - 1;
    h->super.on_req = handler_on_req;
    h->filter = f;
    memmove(pathconf->handlers.entries + 1, pathconf->handlers.entries,
            others * sizeof pathconf->handlers.entries[0]);
    pathconf->handlers.entries[0] = &h->super;
}

void shim_add(struct shim *s, h2o_pathconf_t *pathconf, terse_policy *policy)
{
    struct filter *f = (struct filter *)h2o_create_filter(pathconf, sizeof *f);
    f->super.on_context_init = on_context_init;
    f->super.on_context_dispose = on_context_dispose;
    f->super.dispose = on_dispose;
    f->super.on_setup_ostream = filter_on_setup;
    f->shim = s;
    f->policy = policy;
    s->users++;
    s->plugin.api->policy_ref(policy);
    if (pathconf->path.base) /* a file extension takes one handler; its path has had ours */
        add_handler(f, pathconf);
}
