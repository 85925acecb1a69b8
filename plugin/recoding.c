/* SPDX-License-Identifier: MIT */
#include "recoding.h"

#include "pool.h"
#include "stream.h"

#define PLAIN (16384 - 64) /* with the rest of the struct it fits a block of 16 KB */

struct recoding {
    struct chain *chain;
    bool drained; /* the decoders have given all that can be had of what came */
    bool ended;
    size_t pos, len; /* of plain */
    uint8_t plain[PLAIN];
};

struct recoding *recoding_open(terse_pool *pool, struct chain *chain)
{
    struct recoding *r = blocks_take(&pool->blocks, sizeof *r);

    if (!r)
        return NULL;
    r->chain = chain;
    r->drained = r->ended = false;
    r->pos = r->len = 0;
    return r;
}

void recoding_close(terse_pool *pool, struct recoding *r)
{
    blocks_give(&pool->blocks, r);
}

/* Decodes into the empty plain[]. */
static terse_status refill(struct recoding *r, int32_t operation, struct coder_io *io, size_t *work)
{
    struct coder_io decoded = {io->in, io->in_len, r->plain, PLAIN};
    terse_status status = chain_run_within(
        r->chain, operation == TERSE_FINISH ? TERSE_FINISH : TERSE_RUN, &decoded, work);

    io->in = decoded.in;
    io->in_len = decoded.in_len;
    r->pos = 0;
    r->len = PLAIN - decoded.out_len;
    r->drained = status == TERSE_OK;
    r->ended = status == TERSE_END;
    return status;
}

/* What the encoder is to do with the rest of plain[]. */
static int32_t operation_of_encoder(const struct recoding *r, int32_t operation)
{
    if (r->ended)
        return TERSE_FINISH;
    return r->drained ? operation : TERSE_RUN;
}

static terse_status encode(struct recoding *r, terse_stream *stream, int32_t operation,
                           struct coder_io *io)
{
    struct coder_io plain = {r->plain + r->pos, r->len - r->pos, io->out, io->out_len};
    terse_status status = stream_encode(stream, operation_of_encoder(r, operation), &plain);

    r->pos = r->len - plain.in_len;
    io->out = plain.out;
    io->out_len = plain.out_len;
    return status < 0 ? TERSE_E_BROKEN : status;
}

static terse_status run(struct recoding *r, terse_stream *stream, int32_t operation,
                        struct coder_io *io)
{
    size_t work = CHAIN_OUTPUT;
    terse_status status;

    for (;;) {
        if (r->pos == r->len && !r->ended) {
            status = refill(r, operation, io, &work);
            if (status < 0)
                return status;
            if (status == TERSE_MORE && !r->len)
                return status; /* the call's share of input or of work is used up */
        }
        status = encode(r, stream, operation, io);
        if (status != TERSE_OK || (r->drained && r->pos == r->len))
            return status;
    }
}

terse_status recoding_run(struct recoding *r, terse_stream *stream, int32_t operation,
                          struct coder_io *io)
{
    size_t rest = io->in_len > CHAIN_INPUT ? io->in_len - CHAIN_INPUT : 0;
    terse_status status;

    io->in_len -= rest;
    status = run(r, stream, rest ? TERSE_RUN : operation, io);
    io->in_len += rest;
    return status == TERSE_OK && io->in_len ? TERSE_MORE : status;
}
