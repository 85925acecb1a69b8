/* SPDX-License-Identifier: MIT */
/* One stream, for the files that run it: stream.c and parking.c. */
#ifndef TERSE_STREAM_STATE_H
#define TERSE_STREAM_STATE_H

#include <stdbool.h>

#include <terse.h>
#include "blocks.h"
#include "coder.h"
#include "pool.h"

struct terse_stream {
    terse_pool *pool; /* NULL: a spare handle */
    terse_stream *next, *previous;
    struct coder *coder;       /* NULL: parked */
    struct chain *chain;       /* decoders; coder is the last of them, or the encoder behind them */
    struct recoding *recoding; /* of a response that is decoded and coded anew */
    terse_exchange *exchange;
    const struct coder_kind *kind;
    struct coder_want want; /* to have another coder like the one it had */
    int32_t direction;
    uint32_t flush_delay; /* ms; 0: it is never worth a flush */
    uint32_t park_after;  /* ms; 0: never */
    uint8_t flush;        /* enum flush_mode */
    bool parks;           /* it may be parked */
    bool ran;             /* since the last tick */
    bool request;         /* its chain is that of a request's body */
    bool more;            /* what was last asked for is half done */
    bool emptied;         /* of the operation that is begun all input was taken */
    int32_t operation;    /* begun, answered MORE: to be completed before any other */
    terse_status ending;  /* END or an error: what every call answers from now on */
    uint64_t unflushed;
    uint64_t held;     /* by the decoders of a chain, as last counted */
    uint64_t quiet_ms; /* the tick that came first after its last run */
    struct parked parked;
    uint8_t tail_pos, tail_len; /* of parked.end: what is still to be written, before all else */
};

/* With its block's head this is all that a parked stream holds. */
_Static_assert(sizeof(struct terse_stream) <= 256, "it fits the smallest block");

/* The list that a stream is on: those that have a coder are apart from those that do not. */
static inline terse_stream **stream_list(terse_stream *stream)
{
    return stream->coder ? &stream->pool->live : &stream->pool->parked;
}

/* Lists are rings: the first is the one that has been on it longest. */
static inline void stream_link(terse_stream *stream)
{
    terse_stream **list = stream_list(stream);

    if (!*list)
        *list = stream->next = stream->previous = stream;
    stream->next = *list;
    stream->previous = stream->next->previous;
    stream->previous->next = stream;
    stream->next->previous = stream;
}

static inline void stream_unlink(terse_stream *stream)
{
    terse_stream **list = stream_list(stream);

    stream->next->previous = stream->previous;
    stream->previous->next = stream->next;
    if (*list == stream)
        *list = stream->next == stream ? NULL : stream->next;
}

#endif
