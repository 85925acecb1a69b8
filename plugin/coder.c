/* SPDX-License-Identifier: MIT */
#include "coder.h"

/* More than this many idle coders are not worth the search. */
#define IDLE_COUNT_MAX 64

static uint64_t owed(const struct coder *coder)
{
    return coder->need > coder->bytes ? coder->need - coder->bytes : 0;
}

void coder_count(struct shelf *shelf, struct coder *coder)
{
    uint64_t bytes = coder->kind->bytes(coder);

    shelf->owed -= owed(coder);
    if (coder->own_memory)
        shelf->own += bytes - coder->bytes;
    coder->bytes = bytes;
    if (coder->settled && coder->settled < coder->need)
        coder->need = coder->settled;
    shelf->owed += owed(coder);
}

static void set_aside(struct shelf *shelf, struct coder *coder, uint64_t need)
{
    shelf->owed -= owed(coder);
    coder->need = need;
    shelf->owed += owed(coder);
}

static void drop(struct shelf *shelf, struct blocks *blocks, struct coder *coder)
{
    if (coder->own_memory)
        shelf->own -= coder->bytes;
    coder->kind->drop(blocks, coder);
}

static struct coder *unlink_at(struct shelf *shelf, struct coder **at)
{
    struct coder *coder = *at;

    *at = coder->next;
    coder->next = NULL;
    shelf->count--;
    shelf->bytes -= coder->bytes;
    return coder;
}

static struct coder *from_shelf(struct shelf *shelf, const struct coder_kind *kind, uint64_t key)
{
    for (struct coder **at = &shelf->first; *at; at = &(*at)->next)
        if ((*at)->kind == kind && (*at)->key == key)
            return unlink_at(shelf, at);
    return NULL;
}

bool coder_idle(const struct shelf *shelf, const struct coder_kind *kind,
                const struct coder_want *want)
{
    uint64_t key = kind->key(want);

    for (const struct coder *coder = shelf->first; coder; coder = coder->next)
        if (coder->kind == kind && coder->key == key)
            return true;
    return false;
}

struct coder *coder_take(struct shelf *shelf, struct blocks *blocks, const struct coder_kind *kind,
                         const struct coder_want *want, bool *reused)
{
    uint64_t key = kind->key(want);
    struct coder *coder = from_shelf(shelf, kind, key);

    *reused = coder != NULL;
    if (!coder) {
        coder = kind->make(blocks, want);
        if (!coder)
            return NULL;
        coder->kind = kind;
        coder->key = key;
        coder->next = NULL;
        coder->bytes = coder->need = coder->settled = 0;
    }
    if (!kind->start(coder, want)) {
        drop(shelf, blocks, coder);
        return NULL;
    }
    coder_count(shelf, coder);
    set_aside(shelf, coder, want->need);
    coder->most = coder->longest = UINT64_MAX;
    return coder;
}

bool shelf_drop_last(struct shelf *shelf, struct blocks *blocks)
{
    struct coder **at = &shelf->first;

    if (!*at)
        return false;
    while ((*at)->next)
        at = &(*at)->next;
    drop(shelf, blocks, unlink_at(shelf, at));
    return true;
}

void coder_give(struct shelf *shelf, struct blocks *blocks, struct coder *coder, bool clean)
{
    coder_count(shelf, coder);
    set_aside(shelf, coder, 0);
    if (!clean || !coder->kind->kept || coder->bytes > shelf->idle_max) {
        drop(shelf, blocks, coder);
        return;
    }
    while (shelf->first &&
           (shelf->count == IDLE_COUNT_MAX || shelf->bytes + coder->bytes > shelf->idle_max))
        shelf_drop_last(shelf, blocks);
    coder->period = shelf->period;
    coder->next = shelf->first;
    shelf->first = coder;
    shelf->count++;
    shelf->bytes += coder->bytes;
}

void shelf_sweep(struct shelf *shelf, struct blocks *blocks)
{
    struct coder **at = &shelf->first;

    while (*at)
        if ((*at)->period != shelf->period)
            drop(shelf, blocks, unlink_at(shelf, at));
        else
            at = &(*at)->next;
    shelf->period++;
}

void shelf_clear(struct shelf *shelf, struct blocks *blocks)
{
    while (shelf->first)
        drop(shelf, blocks, unlink_at(shelf, &shelf->first));
}
