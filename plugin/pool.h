/* SPDX-License-Identifier: MIT */
/* The codecs and buffers of one worker. */
#ifndef TERSE_POOL_H
#define TERSE_POOL_H

#include <terse.h>
#include "blocks.h"
#include "coder.h"
#include "edits.h"
#include "reasons.h"

/* Coders that can be used again, and the memory of all. */
struct stock {
    struct blocks blocks;
    struct shelf shelf;
};

struct terse_pool {
    terse_instance *instance;
    struct edits edits;
    uint64_t reasons[REASON_COUNT]; /* how often each was the outcome */
    struct blocks blocks;           /* of encoders, and of everything else */
    struct shelf shelf;             /* encoders */
    struct stock decoders;
    uint64_t limit;       /* pool.memory */
    terse_stream *live;   /* borrowed streams that have a coder */
    terse_stream *parked; /* and those that have none */
    terse_stream *spare;  /* handles to use again */
    void *coded;          /* the last body that encode_whole gave out */
    uint32_t coded_period;
    bool trimming;     /* idle blocks are given back, some at each tick */
    uint64_t swept_ms; /* when idle memory was last looked through */
    uint64_t streams_live;
    uint64_t streams_opened;
    uint64_t streams_reused;  /* opened with a coder that was idle */
    uint64_t streams_parked;  /* of those that live */
    uint64_t streams_resumed; /* got a coder again */
    uint64_t wholes;          /* bodies coded in one call */
    uint64_t decoding;        /* bytes of decoders and decoded bodies of open requests */
    uint64_t bytes_in;        /* taken by coders */
    uint64_t bytes_out;       /* given by them */
    uint64_t ends[3];         /* exchanges by TERSE_DONE, TERSE_ABORTED, TERSE_SOURCE_BROKE */
};

static inline struct shelf *pool_shelf(terse_pool *pool, const struct coder_kind *kind)
{
    return kind->decoder ? &pool->decoders.shelf : &pool->shelf;
}

static inline struct blocks *pool_blocks(terse_pool *pool, const struct coder_kind *kind)
{
    return kind->decoder ? &pool->decoders.blocks : &pool->blocks;
}

/* Takes a coder back; clean: see coder_give. */
void pool_take_back(terse_pool *pool, struct coder *coder, bool clean);
/* Bytes that lie idle. */
uint64_t pool_memory_idle(const terse_pool *pool);
/* Room for a coded body, in place of the one before it; NULL: no memory. */
void *pool_coded_room(terse_pool *pool, size_t room);
/* Bytes that the pool holds, in use or idle. */
size_t pool_memory_held(const terse_pool *pool);
/* Counts an exchange that is over. */
void pool_count_end(terse_pool *pool, uint8_t reason, int32_t how);

/* The slots of the table. */
terse_status pool_new(terse_instance *instance, const terse_policy *policy, terse_pool **out);
void pool_free(terse_pool *pool);
void pool_tick(terse_pool *pool, uint64_t now_ms);
terse_status pool_counter(const terse_pool *pool, uint32_t index, const char **name,
                          uint64_t *value);
terse_status pool_lend(terse_pool *pool, size_t min, terse_out *out);
void pool_return(terse_pool *pool, void *ptr);

#endif
