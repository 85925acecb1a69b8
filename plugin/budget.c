/* SPDX-License-Identifier: MIT */
#include "budget.h"

#include "pool.h"

/* Where a limit is so high that it is none, no more lies idle than this. */
#define IDLE_MAX (UINT64_C(32) << 20)

/* Half each; work may hold all, for what lies idle goes before work is refused. */
uint64_t budget_idle_max(uint64_t limit)
{
    return limit / 2 < IDLE_MAX ? limit / 2 : IDLE_MAX;
}

/* Held or set aside. */
static uint64_t taken(const terse_pool *pool)
{
    return pool_memory_held(pool) + pool->shelf.owed + pool->decoders.shelf.owed;
}

static uint64_t left(const terse_pool *pool)
{
    uint64_t all = taken(pool), idle = pool_memory_idle(pool);
    uint64_t busy = idle < all ? all - idle : 0; /* codecs say more than some have taken */

    return busy < pool->limit ? pool->limit - busy : 0;
}

bool budget_room(terse_pool *pool, uint64_t bytes)
{
    if (bytes > pool->limit)
        return false;
    while (taken(pool) > pool->limit - bytes) {
        if (pool->blocks.idle_bytes) /* and some more: what is left may be of no use to anyone */
            blocks_shed(&pool->blocks, taken(pool) - (pool->limit - bytes) + pool->limit / 16);
        else if (pool->decoders.blocks.idle_bytes)
            blocks_clear(&pool->decoders.blocks);
        else if (!shelf_drop_last(&pool->shelf, &pool->blocks) &&
                 !shelf_drop_last(&pool->decoders.shelf, &pool->decoders.blocks))
            return false;
    }
    return true;
}

/* What the settings ask for is given as long as it is at most a third of what is left, and leaves
 * the last eighth of all alone; so the first large bodies do not take everything.  The cheapest
 * settings may have all. */
static bool choose(const terse_pool *pool, const struct coder_kind *kind, struct coder_want *want)
{
    uint64_t have = left(pool), kept = pool->limit / 8;

    for (;;) {
        struct coder_want next = *want;

        want->need = kind->need(want);
        if (want->need <= (have > kept ? have - kept : 0) / 3)
            return true;
        if (!kind->cheaper || !kind->cheaper(&next))
            return want->need <= have;
        *want = next;
        kept = 0;
    }
}

struct coder *budget_coder(terse_pool *pool, const struct coder_kind *kind, struct coder_want *want,
                           bool *reused)
{
    *reused = false;
    if (!choose(pool, kind, want))
        return NULL;
    /* one that lies idle is counted already, but for what a longer body makes of it */
    if (!coder_idle(pool_shelf(pool, kind), kind, want) && !budget_room(pool, want->need))
        return NULL;
    struct coder *coder =
        coder_take(pool_shelf(pool, kind), pool_blocks(pool, kind), kind, want, reused);
    (void)budget_room(pool, 0); /* an idle one may grow: other idle memory goes for that */
    return coder;
}
