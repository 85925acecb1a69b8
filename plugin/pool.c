/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <stdlib.h>

#include "budget.h"
#include "errno_keep.h"
#include "parking.h"
#include "policy.h"
#include "stream.h"

/* A buffer of up to so many bytes is lent beyond pool.memory too: without it a response that has
 * begun would have to be cut off. */
#define LEND_ALWAYS ((size_t)256 << 10)
/* Idle decoders, and idle memory of theirs, hold at most so much each, in blocks of at most so much:
 * windows are as long as a body's sender likes, and long ones go back to the system at once. */
#define DECODERS_IDLE_MAX ((uint64_t)4 << 20)
#define WINDOW_KEPT_MAX ((size_t)1 << 20)
/* What has not been used between two sweeps goes, so after 10 to 20 seconds. */
#define SWEEP_MS 10000

terse_status pool_new(terse_instance *instance, const terse_policy *policy, terse_pool **out)
{
    terse_pool *pool;
    int saved = errno;

    if (!instance || !policy || !out)
        return TERSE_E_ARG;
    if (!policy->sealed)
        return TERSE_E_STATE;
    pool = calloc(1, sizeof *pool);
    errno_keep(saved);
    if (!pool)
        return TERSE_E_NOMEM;
    pool->instance = instance;
    pool->limit = policy->settings.pool_memory;
    pool->shelf.idle_max = budget_idle_max(pool->limit);
    blocks_init(&pool->blocks, budget_idle_max(pool->limit), SIZE_MAX);
    pool->decoders.shelf.idle_max = DECODERS_IDLE_MAX;
    blocks_init(&pool->decoders.blocks, DECODERS_IDLE_MAX, WINDOW_KEPT_MAX);
    *out = pool;
    return TERSE_OK;
}

void pool_free(terse_pool *pool)
{
    int saved = errno;

    if (!pool)
        return;
    streams_clear(pool);
    blocks_give(&pool->blocks, pool->coded);
    shelf_clear(&pool->shelf, &pool->blocks);
    blocks_clear(&pool->blocks);
    shelf_clear(&pool->decoders.shelf, &pool->decoders.blocks);
    blocks_clear(&pool->decoders.blocks);
    free(pool);
    errno_keep(saved);
}

static void sweep(terse_pool *pool, uint64_t now_ms)
{
    pool->swept_ms = now_ms;
    if (pool->coded_period != pool->shelf.period) {
        blocks_give(&pool->blocks, pool->coded);
        pool->coded = NULL;
    }
    shelf_sweep(&pool->shelf, &pool->blocks);
    shelf_sweep(&pool->decoders.shelf, &pool->decoders.blocks);
    pool->trimming = true;
}

/* Time that stands still or runs backwards sweeps nothing. */
void pool_tick(terse_pool *pool, uint64_t now_ms)
{
    int saved = errno;

    if (!pool)
        return;
    streams_tick(pool, now_ms);
    if (now_ms < pool->swept_ms)
        pool->swept_ms = now_ms;
    if (now_ms - pool->swept_ms >= SWEEP_MS)
        sweep(pool, now_ms);
    if (pool->trimming)
        pool->trimming = !(blocks_trim(&pool->blocks) && blocks_trim(&pool->decoders.blocks));
    errno_keep(saved);
}

size_t pool_memory_held(const terse_pool *pool)
{
    return (size_t)(pool->blocks.held + pool->shelf.own + pool->decoders.blocks.held +
                    pool->decoders.shelf.own);
}

uint64_t pool_memory_idle(const terse_pool *pool)
{
    return pool->blocks.idle_bytes + pool->shelf.bytes + pool->decoders.blocks.idle_bytes +
           pool->decoders.shelf.bytes;
}

void pool_take_back(terse_pool *pool, struct coder *coder, bool clean)
{
    coder_give(pool_shelf(pool, coder->kind), pool_blocks(pool, coder->kind), coder, clean);
}

void pool_count_end(terse_pool *pool, uint8_t reason, int32_t how)
{
    if (reason < REASON_COUNT)
        pool->reasons[reason]++;
    if (how >= TERSE_DONE && how <= TERSE_SOURCE_BROKE)
        pool->ends[how]++;
}

terse_status pool_counter(const terse_pool *pool, uint32_t index, const char **name,
                          uint64_t *value)
{
    if (!pool || !name || !value)
        return TERSE_E_ARG;

    const struct {
        const char *name;
        uint64_t value;
    } own[] = {
        {"streams.live", pool->streams_live},
        {"streams.opened", pool->streams_opened},
        {"streams.reused", pool->streams_reused},
        {"whole.coded", pool->wholes},
        {"bytes.in", pool->bytes_in},
        {"bytes.out", pool->bytes_out},
        {"memory.held", pool_memory_held(pool)},
        {"memory.idle", pool_memory_idle(pool)},
        {"streams.parked", pool->streams_parked},
        {"streams.resumed", pool->streams_resumed},
        {"decode.held", pool->decoding},
        {"exchanges.done", pool->ends[TERSE_DONE]},
        {"exchanges.aborted", pool->ends[TERSE_ABORTED]},
        {"exchanges.source-broke", pool->ends[TERSE_SOURCE_BROKE]},
    };
    const uint32_t count = sizeof own / sizeof own[0];

    if (index >= count + REASON_COUNT)
        return TERSE_E_ARG;
    *name = index < count ? own[index].name : reason_counter(index - count);
    *value = index < count ? own[index].value : pool->reasons[index - count];
    return TERSE_OK;
}

/* ---- buffers ----------------------------------------------------------------------------- */

/* A block that lies idle is counted already. */
static bool room_for(terse_pool *pool, size_t size)
{
    return blocks_idle(&pool->blocks, size) || budget_room(pool, blocks_cost(size));
}

terse_status pool_lend(terse_pool *pool, size_t min, terse_out *out)
{
    void *ptr;

    if (!pool || !out)
        return TERSE_E_ARG;
    if (!room_for(pool, min) && min > LEND_ALWAYS)
        return TERSE_E_NOMEM;
    ptr = blocks_take(&pool->blocks, min);
    if (!ptr)
        return TERSE_E_NOMEM;
    *out = (terse_out){ptr, blocks_size(ptr), 0};
    return TERSE_OK;
}

void pool_return(terse_pool *pool, void *ptr)
{
    if (pool)
        blocks_give(&pool->blocks, ptr);
}

void *pool_coded_room(terse_pool *pool, size_t room)
{
    blocks_give(&pool->blocks, pool->coded);
    pool->coded = room_for(pool, room) ? blocks_take(&pool->blocks, room) : NULL;
    pool->coded_period = pool->shelf.period;
    return pool->coded;
}
