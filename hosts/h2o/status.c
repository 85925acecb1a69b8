/* SPDX-License-Identifier: MIT */
/* The plugin's counters in H2O's status page.  Each thread adds its own to the sums when H2O asks
 * it to; nobody waits for anybody. */
#include "shim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_MAX 128

struct sums {
    const char *name[COUNTERS_MAX]; /* static, the same for every thread */
    uint64_t value[COUNTERS_MAX];
    uint64_t longest_call; /* of any thread */
};

static void *start(void)
{
    struct sums *sums = h2o_mem_alloc(sizeof *sums);
    memset(sums, 0, sizeof *sums);
    return sums;
}

static void take_longer(uint64_t *longest, uint64_t ns)
{
    uint64_t known = __atomic_load_n(longest, __ATOMIC_RELAXED);
    while (ns > known && !__atomic_compare_exchange_n(longest, &known, ns, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED))
        ;
}

static void add_thread(void *memory, h2o_context_t *ctx)
{
    struct sums *sums = memory;
    const struct shim *s = shim_of(ctx->globalconf);
    struct worker *w = s ? worker_of(s, ctx) : NULL;
    const char *name;
    uint64_t value;
    if (!w || !w->pool)
        return;
    take_longer(&sums->longest_call, w->calls.longest);
    for (uint32_t i = 0; i < COUNTERS_MAX; i++) {
        if (api_of(w)->pool_counter(w->pool, i, &name, &value) < 0)
            break;
        __atomic_store_n(&sums->name[i], name, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->value[i], value, __ATOMIC_RELAXED);
    }
}

static h2o_iovec_t finish(void *memory, h2o_globalconf_t *conf, h2o_req_t *req)
{
    struct sums *sums = memory;
    size_t size = 64 + COUNTERS_MAX * 128, len = 0;
    char *text = h2o_mem_alloc_pool(&req->pool, size);
    (void)conf;
    len = (size_t)snprintf(text, size, ",\n \"terse.calls.longest-us\": %" PRIu64,
                           sums->longest_call / 1000);
    for (size_t i = 0; i < COUNTERS_MAX && sums->name[i]; i++) {
        int n = snprintf(text + len, size - len, ",\n \"terse.%.64s\": %" PRIu64, sums->name[i],
                         sums->value[i]);
        if (n < 0 || (size_t)n >= size - len)
            break;
        len += (size_t)n;
    }
    free(sums);
    return h2o_iovec_init(text, len);
}

void status_register(struct shim *s)
{
    h2o_status_handler_t handler = {
        .name = h2o_iovec_init(H2O_STRLIT("terse")),
        .init = start,
        .per_thread = add_thread,
        .final = finish,
    };
    h2o_config_register_status_handler(s->conf, handler);
}
