/* SPDX-License-Identifier: MIT */
#include "parking.h"

#include <string.h>

#include "stream_state.h"

/* So much is given back in one tick, and then the event loop's turn comes: what goes to the
 * system takes up to 0.2 ms for each MB, and a thousand streams may pause at the same time. */
#define TICK_BYTES (UINT64_C(12) << 20)

bool stream_park(terse_stream *stream)
{
    terse_pool *pool = stream->pool;

    if (!stream->coder || !stream->parks || stream->ending || stream->more || stream->unflushed)
        return false;
    stream->kind->park(stream->coder, &stream->parked);
    stream_unlink(stream);
    coder_give(&pool->shelf, &pool->blocks, stream->coder, true);
    stream->coder = NULL;
    stream_link(stream);
    pool->streams_parked++;
    return true;
}

/* Ticks come about once a second, and a stream may have run right before one: its pause counts
 * from the first tick after its last run.  Time that runs backwards begins it anew. */
static bool is_due(terse_stream *stream, uint64_t now_ms)
{
    if (stream->ran || now_ms < stream->quiet_ms) {
        stream->ran = false;
        stream->quiet_ms = now_ms;
        return false;
    }
    return stream->park_after && now_ms - stream->quiet_ms >= stream->park_after;
}

/* Those that have had their coder longest come first, so that each one's turn comes. */
void streams_tick(terse_pool *pool, uint64_t now_ms)
{
    uint64_t n = pool->streams_live - pool->streams_parked, given = 0;
    terse_stream *next = pool->live;

    while (n-- && given < TICK_BYTES) {
        terse_stream *stream = next;
        uint64_t bytes = stream->coder->bytes;

        next = stream->next;
        if (is_due(stream, now_ms) && stream_park(stream))
            given += bytes;
    }
}

/* ---- and on ------------------------------------------------------------------------------ */

bool stream_is_parked(const terse_stream *stream)
{
    return !stream->coder || stream->tail_len;
}

static bool resume(terse_stream *stream)
{
    terse_pool *pool = stream->pool;
    struct coder *coder;
    bool reused;

    coder = coder_take(&pool->shelf, &pool->blocks, stream->kind, &stream->want, &reused);
    if (!coder)
        return false;
    stream_unlink(stream);
    stream->coder = coder;
    stream_link(stream);
    pool->streams_parked--;
    pool->streams_resumed++;
    if (!stream->parked.end_len) /* nothing was written before: a new body */
        return true;
    if (stream->kind->resume)
        stream->kind->resume(coder, &stream->parked);
    else
        stream->tail_len = stream->parked.end_len;
    return true;
}

static bool give_tail(terse_stream *stream, struct coder_io *io)
{
    size_t n = (size_t)(stream->tail_len - stream->tail_pos);

    if (n > io->out_len)
        n = io->out_len;
    memcpy(io->out, stream->parked.end + stream->tail_pos, n);
    io->out += n;
    io->out_len -= n;
    stream->tail_pos = (uint8_t)(stream->tail_pos + n);
    if (stream->tail_pos < stream->tail_len)
        return false;
    stream->tail_pos = stream->tail_len = 0;
    return true;
}

terse_status stream_wake(terse_stream *stream, int32_t operation, struct coder_io *io, bool *done)
{
    *done = true;
    if (!stream->coder && !stream->tail_len) {
        if (!io->in_len && operation != TERSE_FINISH)
            return TERSE_OK;
        if (!io->in_len && stream->parked.end_len) { /* its end is known: that takes no coder */
            stream->tail_len = stream->parked.end_len;
            stream->operation = TERSE_FINISH;
            stream->emptied = true;
        } else if (!resume(stream)) {
            return TERSE_E_NOMEM;
        }
    }
    if (!give_tail(stream, io))
        return TERSE_MORE;
    *done = !stream->coder;
    if (*done)
        stream->ending = TERSE_END;
    return *done ? TERSE_END : TERSE_OK;
}
