/* SPDX-License-Identifier: MIT */
#include "chain.h"

#include <string.h>

#include "budget.h"
#include "codec.h"
#include "pool.h"

#define HELD 16384

/* One coding; what it gives waits for the next one. */
struct stage {
    struct coder *coder;
    uint64_t given;
    bool ended;
    bool more;       /* it had no room: it is to be called again before it gets more */
    size_t pos, len; /* of held */
    uint8_t *held;
};

struct chain {
    struct chain_limits limits;
    uint64_t taken;
    unsigned n;
    struct stage stages[CHAIN_MAX]; /* the coding that is taken off first is the first */
};

static bool open_stage(terse_pool *pool, struct stage *stage, int coding, int64_t aside, bool last,
                       terse_status *status)
{
    struct coder_want want;
    const struct coder_kind *kind = codec_decoder(coding, &want);
    bool reused;

    want.length = aside;
    *status = kind ? TERSE_E_NOMEM : TERSE_E_CODING;
    stage->coder = kind ? budget_coder(pool, kind, &want, &reused) : NULL;
    if (!stage->coder)
        return false;
    pool->streams_reused += reused;
    stage->held = last ? NULL : blocks_take(&pool->blocks, HELD);
    return last || stage->held;
}

struct chain *chain_open(terse_pool *pool, const int *codings, unsigned n,
                         const struct chain_limits *limits, terse_status *status)
{
    struct chain *chain = blocks_take(&pool->blocks, sizeof *chain);

    *status = TERSE_E_NOMEM;
    if (!chain)
        return NULL;
    memset(chain, 0, sizeof *chain);
    chain->limits = *limits;
    while (chain->n < n) {
        struct stage *stage = &chain->stages[chain->n++];

        if (!open_stage(pool, stage, codings[n - chain->n], limits->aside, chain->n == n, status)) {
            chain_close(pool, chain, true);
            return NULL;
        }
    }
    *status = TERSE_OK;
    return chain;
}

void chain_close(terse_pool *pool, struct chain *chain, bool clean)
{
    for (unsigned i = 0; i < chain->n; i++) {
        struct stage *stage = &chain->stages[i];

        if (stage->coder)
            pool_take_back(pool, stage->coder, clean);
        blocks_give(&pool->blocks, stage->held);
    }
    blocks_give(&pool->blocks, chain);
}

struct coder *chain_last(const struct chain *chain)
{
    return chain->stages[chain->n - 1].coder;
}

void chain_bound(struct chain *chain, uint64_t more)
{
    for (unsigned i = 0; i < chain->n; i++)
        chain->stages[i].coder->most = chain->stages[i].coder->bytes + more;
}

uint64_t chain_count(terse_pool *pool, struct chain *chain)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < chain->n; i++) {
        coder_count(&pool->decoders.shelf, chain->stages[i].coder);
        bytes += chain->stages[i].coder->bytes;
    }
    return bytes;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* One turn: what is left of it for all stages. */
struct turn {
    struct chain *chain;
    int32_t operation;
    struct coder_io wire; /* in: what came */
    size_t work;          /* bytes that may still be given */
};

static uint64_t burst_of(const struct chain *chain, const struct stage *stage)
{
    return stage == &chain->stages[chain->n - 1] ? CHAIN_BURST : CHAIN_BURST_INSIDE;
}

static bool is_over(const struct chain *chain, const struct stage *stage)
{
    if (stage->given > chain->limits.length)
        return true;
    return stage->given > burst_of(chain, stage) &&
           stage->given / chain->limits.ratio > chain->taken;
}

/* The most that a stage can give without being refused, as far as that is known: while more may come
 * from the wire, so may more come of it. */
static uint64_t longest_of(const struct turn *t, const struct stage *stage)
{
    const struct chain_limits *limits = &t->chain->limits;
    uint64_t came = t->chain->taken + t->wire.in_len + 1, burst = burst_of(t->chain, stage), most;

    if (t->operation != TERSE_FINISH || limits->ratio > UINT64_MAX / came)
        return limits->length;
    most = came * limits->ratio < burst ? burst : came * limits->ratio;
    return most < limits->length ? most : limits->length;
}

/* One byte more than is allowed has to fit, for whether it comes is the question. */
static size_t room_of(const struct turn *t, const struct stage *stage, size_t room)
{
    uint64_t allowed = t->chain->limits.length - stage->given + 1;

    if (room > t->work)
        room = t->work;
    return room < allowed ? room : (size_t)allowed;
}

static terse_status step(struct turn *t, struct stage *stage, int32_t operation,
                         struct coder_io *io)
{
    size_t room = io->out_len, allowed = room_of(t, stage, room);
    terse_status status;

    io->out_len = allowed;
    stage->coder->longest = longest_of(t, stage);
    status = stage->coder->kind->run(stage->coder, operation, io);
    stage->given += allowed - io->out_len;
    t->work -= allowed - io->out_len;
    io->out_len += room - allowed;
    stage->more = status == TERSE_MORE;
    stage->ended = status == TERSE_END;
    return status;
}

static terse_status within_limits(const struct turn *t, const struct stage *stage,
                                  terse_status status)
{
    return status >= 0 && is_over(t->chain, stage) ? TERSE_E_LIMIT : status;
}

/* The first one takes from the wire. */
static terse_status run_first(struct turn *t, struct coder_io *out)
{
    struct stage *stage = &t->chain->stages[0];
    struct coder_io io = {t->wire.in, t->wire.in_len, out->out, out->out_len};
    terse_status status = step(t, stage, t->operation, &io);

    t->chain->taken += t->wire.in_len - io.in_len;
    t->wire.in = io.in;
    t->wire.in_len = io.in_len;
    out->out = io.out;
    out->out_len = io.out_len;
    return within_limits(t, stage, status);
}

static terse_status run_stage(struct turn *t, unsigned i, struct coder_io *out);

/* Has the stage before give what it can into its own buffer, which is empty. */
static terse_status refill(struct turn *t, unsigned i)
{
    struct stage *before = &t->chain->stages[i - 1];
    struct coder_io io = {NULL, 0, before->held, HELD};
    terse_status status = run_stage(t, i - 1, &io);

    before->pos = 0;
    before->len = HELD - io.out_len;
    return status;
}

/* MORE: for want of room, or of work that is left; OK: for want of input. */
static terse_status run_stage(struct turn *t, unsigned i, struct coder_io *out)
{
    struct stage *stage = &t->chain->stages[i], *before;
    terse_status status;

    if (i == 0)
        return run_first(t, out);
    before = stage - 1;
    for (;;) {
        struct coder_io io;

        if (before->pos == before->len && !before->ended && !stage->more) {
            status = refill(t, i);
            if (status < 0)
                return status;
            if (!before->len && !before->ended)
                return status;
        }
        io = (struct coder_io){before->held + before->pos, before->len - before->pos, out->out,
                               out->out_len};
        status =
            within_limits(t, stage, step(t, stage, before->ended ? TERSE_FINISH : TERSE_RUN, &io));
        before->pos = before->len - io.in_len;
        out->out = io.out;
        out->out_len = io.out_len;
        if (status != TERSE_OK)
            return status;
    }
}

static terse_status run(struct turn *t, struct coder_io *io)
{
    struct chain *chain = t->chain;
    struct coder_io out = {NULL, 0, io->out, io->out_len};
    terse_status status;

    if (t->operation == TERSE_FINISH && !chain->taken && !io->in_len)
        return TERSE_END;
    status = run_stage(t, chain->n - 1, &out);
    io->out = out.out;
    io->out_len = out.out_len;
    return status;
}

terse_status chain_run(struct chain *chain, int32_t operation, struct coder_io *io)
{
    size_t work = CHAIN_OUTPUT;

    return chain_run_within(chain, operation, io, &work);
}

terse_status chain_run_within(struct chain *chain, int32_t operation, struct coder_io *io,
                              size_t *work)
{
    size_t rest = io->in_len > CHAIN_INPUT ? io->in_len - CHAIN_INPUT : 0;
    struct turn t = {
        chain, rest ? TERSE_RUN : operation, {io->in, io->in_len - rest, NULL, 0}, *work};
    terse_status status = run(&t, io);

    *work = t.work;
    io->in = t.wire.in;
    io->in_len = t.wire.in_len + rest;
    /* the caller is to come again: with the rest, or for what is left of the work */
    return status == TERSE_OK && io->in_len ? TERSE_MORE : status;
}
