/* SPDX-License-Identifier: MIT */
/* Encodes br (RFC 7932).  The library has no reset: each body has an instance of its own, made of the
 * pool's warm blocks. */
#include "codec.h"
#include "coder.h"

#include <setjmp.h>
#include <string.h>
#include <brotli/encode.h>

/* A window of 4 MB; the format's largest is 16 MB, and "large window" is another format. */
#define WINDOW_MAX 22
/* For bodies that are coded whole.  Up to 16 bits the encoder takes another table from quality 5 on,
 * and clears more of it than a short body ever uses: 619,000 instructions for 1 KB of text, 395,000
 * with 18 bits; for 300 bytes 231,000 and 198,000, for 8 KB 1,835,000 and 1,627,000.  The bytes are
 * the same but for 3 of them. */
#define WINDOW_WHOLE_MIN 18
/* For streams of unknown length: the ring is taken at once.  At quality 3, 22 bits would save nothing
 * of 8 MB, 0.6 % of 100 MB, and hold 5 MB more; at 5 it would be 4 % of 30 MB, and who sets that by
 * hand wants few bytes.  A source that pauses early has seldom more than a short body, or events. */
#define WINDOW_UNKNOWN 21
#define WINDOW_PAUSED 20
/* From so many bytes on the library takes larger tables.  Windows that are made smaller for want of
 * memory go without. */
#define HINT_LARGE (1 << 20)
#define WINDOW_LARGE 19
/* A window reaches back (1 << bits) - 16 bytes (RFC 7932 section 9.1). */
#define WINDOW_GAP 16
#define SIZE_HINT_MAX (INT64_C(1) << 30)
/* The encoder works in blocks of 64 KB; from quality 9 on they would be of 256 KB. */
#define BLOCK_LOG 16

static uint64_t no_key(const struct coder_want *want)
{
    (void)want;
    return 0;
}

/* A body of unknown length is held until more is known of it: as long as its first bytes come without
 * a pause, up to so many.  One that ends before is coded as what it is, a short body; one that is
 * flushed gets by with little memory; of any other there is more to come, and it is set up as a large
 * one, which at quality 3 makes no difference but for the window.  At 4 the library's tables for large
 * bodies save 3 % of 8 MB, nothing of 512 KB, and cost 1.3 % of 256 KB, 2.4 % of 128 KB and 3.5 % of
 * 64 KB; so from there on more is held.  (At 5 they save 1.6 % of 8 MB and cost 0.4 % of 128 KB.) */
#define HELD_MOST ((size_t)32 << 10)
#define HELD_MOST_FINE ((size_t)128 << 10)
static size_t held_most(int level)
{
    return level < 4 ? HELD_MOST : HELD_MOST_FINE;
}

/* When its allocator says no, the encoder calls exit(), unless it was built otherwise, and Debian's
 * was not.  So while it runs the allocator does not come back without memory, but leaves the
 * encoder by a jump; the blocks that it had are on a list, and the instance is forgotten. */
struct encoder {
    struct coder base;
    struct blocks *blocks;
    struct coder_want want;
    bool ready;     /* set up, for good */
    uint8_t *held;  /* first input, not given to the encoder yet; NULL: none */
    size_t held_at; /* so much of it was given */
    size_t held_len;
    uint64_t bytes;  /* lent to this one */
    size_t since;    /* input of the open meta-block */
    size_t given;    /* output since the last one ended */
    size_t most;     /* input of a meta-block: */
    size_t longest;  /* where the text shrinks well */
    size_t shortest; /* where it does not */
    struct block_list list;
    BrotliEncoderState *state; /* NULL: lost for want of memory */
    jmp_buf *escape;           /* while it runs */
};

static void *encoder_take(void *opaque, size_t size)
{
    struct encoder *e = opaque;
    void *ptr = blocks_take_into(e->blocks, &e->list, size);

    if (!ptr && e->escape)
        longjmp(*e->escape, 1);
    if (ptr)
        e->bytes += blocks_size(ptr);
    return ptr;
}

static void encoder_give(void *opaque, void *ptr)
{
    struct encoder *e = opaque;

    if (ptr)
        e->bytes -= blocks_size(ptr);
    blocks_give(e->blocks, ptr);
}

static struct coder *encoder_make(struct blocks *blocks, const struct coder_want *want)
{
    struct encoder *e = blocks_take(blocks, sizeof *e);

    (void)want;
    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    e->blocks = blocks;
    e->state = BrotliEncoderCreateInstance(encoder_take, encoder_give, e);
    if (!e->state) {
        blocks_give(blocks, e);
        return NULL;
    }
    return &e->base;
}

/* How an encoder is set up. */
struct shape {
    uint32_t window;
    uint32_t hint; /* 0: none */
    size_t most;   /* input of a meta-block */
};

/* Below 4 the library works in blocks of 16 KB, and ends a meta-block after a few thousand symbols: in
 * pieces of 32 KB no call took more than 0.7 ms for 100 MB of this and that text, 1.0 ms where the
 * machine was busy.  What follows is for who sets the quality by hand.
 *
 * From 4 on a meta-block is written in one go when it is full, which by itself it is at twice the
 * window: at quality 4 and 22 bits that is a call of 25 ms, and 36 MB are held for it.  So streams end
 * theirs earlier.  On 8 MB of mixed text, against one call with the same window and hint:
 *   quality 4, each 32 KB    0.7 to 0.8 % more bytes, 6 % more time, a call of 1.5 ms, 12 MB
 *   quality 4, each 128 KB   0.1 to 0.2 %, 1 %, 2.5 ms, 13 MB
 *   quality 5, each 128 KB   1.7 to 1.8 %, 3.5 ms, 12 MB
 *   quality 5, each 1 MB     0.8 to 1.0 %, 6 ms, 15 MB
 * A call shorter than a block of 64 KB takes is only to be had by ending the meta-block before it.
 * It is needed where the table is large, and misses the caches, and not where the text shrinks to
 * less than a sixth: that is done faster, and would cost 1.2 %.  From 5 on each meta-block learns
 * many literal contexts anew, and whoever sets 5 by hand wants few bytes.  A window of 19 bits would
 * cost 4.9 % (quality 4) or 3.9 %.  Where text shrinks badly calls are longer: in 100 MB, up to 4.6 ms
 * at quality 4 (tables of hexadecimal numbers), and in 20 MB, 6 ms at 5 and 6, 12 ms at 7.  Meta-blocks
 * of as much input as gives 6 KB brought quality 4 to 1.5 ms for all but 2 %, but not those.  Pages of
 * 2 MB for the tables would save a tenth of the time, but each takes up to 3 ms when it is first
 * touched. */
#define SHORT_MOST ((size_t)32 << 10)
#define SHRINKS_WELL 6
static size_t block_most(int level)
{
    if (level < 4)
        return SIZE_MAX;
    return level == 4 ? (size_t)128 << 10 : (size_t)1 << 20;
}

/* A length that is not known is a large one. */
static struct shape shape_of(const struct coder_want *want)
{
    int least = want->whole ? WINDOW_WHOLE_MIN : BROTLI_MIN_WINDOW_BITS;
    int most = want->length < 0 && want->level < 4 ? WINDOW_UNKNOWN : WINDOW_MAX;
    struct shape shape = {0, HINT_LARGE, SIZE_MAX};

    if (want->window && want->window < most)
        most = want->window;
    if (least > most)
        least = most;
    shape.window = (uint32_t)most;
    if (want->length >= 0) {
        int64_t hint = want->length < SIZE_HINT_MAX ? want->length : SIZE_HINT_MAX;

        shape.window = (uint32_t)coder_fit(hint + WINDOW_GAP, least, most);
        shape.hint = (uint32_t)hint;
    }
    if (shape.window < WINDOW_LARGE && shape.hint >= HINT_LARGE)
        shape.hint = HINT_LARGE - 1;
    if (!want->whole)
        shape.most = block_most(want->level);
    return shape;
}

/* Of unknown length, and its source has paused. */
static struct shape shape_paused(const struct coder_want *want)
{
    struct shape shape = shape_of(want);

    if (shape.window > WINDOW_PAUSED)
        shape.window = WINDOW_PAUSED;
    shape.hint = 0;
    return shape;
}

/* Of the library, without the rings: measured. */
static uint64_t table_bytes(int level, const struct shape *shape)
{
    const uint64_t counts = UINT64_C(2) << 15;
    bool large = shape->hint >= HINT_LARGE;

    if (level < 4)
        return blocks_cost(UINT64_C(256) << 10);
    if (level == 4)
        return blocks_cost(large ? UINT64_C(4) << 20 : UINT64_C(512) << 10);
    if (level > 9) /* two links for each place in the window, and the paths through a block */
        return blocks_cost(UINT64_C(8) << shape->window) + (UINT64_C(2) << 20);
    if (shape->window <= 16)
        return (level < 9 ? UINT64_C(640) : UINT64_C(1536)) << 10;
    if (large && shape->window >= WINDOW_LARGE)
        return blocks_cost((UINT64_C(4) << (15 + level - 1)) + counts);
    return blocks_cost((UINT64_C(4) << ((level < 7 ? 14 : 15) + level - 1)) + counts);
}

/* Ring, tables, and what the open meta-block gathers. */
static uint64_t need_of(const struct coder_want *want, const struct shape *shape)
{
    uint32_t ring = shape->window < BLOCK_LOG ? BLOCK_LOG : shape->window;
    uint64_t gathers = shape->most, bytes = table_bytes(want->level, shape) + 16384;

    if (want->level < 2)
        return bytes;
    if (want->level < 4)
        gathers = 128 << 10;
    if (gathers > UINT64_C(2) << shape->window)
        gathers = UINT64_C(2) << shape->window;
    if (want->length >= 0 && gathers > (uint64_t)want->length)
        gathers = (uint64_t)want->length;
    bytes += gathers * 9 / 2 + (gathers < 65536 ? gathers : 65536) * 12;
    return bytes + blocks_cost((UINT64_C(2) << ring) + (UINT64_C(1) << BLOCK_LOG) + 16);
}

static bool set_up(struct encoder *e, const struct shape *shape)
{
    const struct coder_want *want = &e->want;

    e->ready = true;
    e->longest = e->shortest = shape->most;
    if (want->level == 4 && !want->whole && shape->hint >= HINT_LARGE)
        e->shortest = SHORT_MOST;
    e->most = e->shortest;
    if (!want->whole && want->level >= 9 &&
        !BrotliEncoderSetParameter(e->state, BROTLI_PARAM_LGBLOCK, BLOCK_LOG))
        return false;
    return BrotliEncoderSetParameter(e->state, BROTLI_PARAM_QUALITY, (uint32_t)want->level) &&
           BrotliEncoderSetParameter(e->state, BROTLI_PARAM_LGWIN, shape->window) &&
           BrotliEncoderSetParameter(e->state, BROTLI_PARAM_SIZE_HINT, shape->hint);
}

static bool encoder_start(struct coder *coder, const struct coder_want *want)
{
    struct encoder *e = (struct encoder *)coder;
    struct shape shape = shape_of(want);

    e->want = *want;
    return want->length < 0 || set_up(e, &shape);
}

static terse_status encoder_steps(BrotliEncoderState *state, int32_t operation, struct coder_io *io)
{
    static const BrotliEncoderOperation operations[] = {
        BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_FLUSH, BROTLI_OPERATION_FINISH};

    for (;;) {
        size_t in_len = io->in_len, out_len = io->out_len;

        if (!BrotliEncoderCompressStream(state, operations[operation], &io->in_len, &io->in,
                                         &io->out_len, &io->out, NULL))
            return TERSE_E_BROKEN;
        if (BrotliEncoderIsFinished(state))
            return TERSE_END;
        if (!io->in_len && !BrotliEncoderHasMoreOutput(state) && operation != TERSE_FINISH)
            return TERSE_OK;
        if (!io->out_len)
            return TERSE_MORE;
        if (io->in_len == in_len && io->out_len == out_len)
            return TERSE_E_BROKEN;
    }
}

/* Ends the open meta-block. */
static terse_status encoder_cut(struct encoder *e, struct coder_io *io)
{
    struct coder_io none = {io->in, 0, io->out, io->out_len};
    terse_status status = encoder_steps(e->state, TERSE_FLUSH, &none);

    e->given += io->out_len - none.out_len;
    io->out = none.out;
    io->out_len = none.out_len;
    if (status != TERSE_OK)
        return status;
    e->most = e->given * SHRINKS_WELL <= e->since ? e->longest : e->shortest;
    e->since = e->given = 0;
    return status;
}

/* No more than fits the open meta-block. */
static terse_status encoder_part(struct encoder *e, int32_t operation, struct coder_io *io)
{
    struct coder_io part = *io;
    size_t rest = 0;
    terse_status status;

    if (io->in_len > e->most - e->since) {
        part.in_len = e->most - e->since;
        rest = io->in_len - part.in_len;
    }
    status = encoder_steps(e->state, rest ? TERSE_RUN : operation, &part);
    e->since += io->in_len - rest - part.in_len;
    e->given += io->out_len - part.out_len;
    *io = (struct coder_io){part.in, rest + part.in_len, part.out, part.out_len};
    return status;
}

/* A meta-block whose blocks have all been worked through is ended when more comes, so that the call
 * that did the last of them does not write it as well.  One that is shorter than a block has all its
 * work before it. */
static terse_status encoder_blocks(struct encoder *e, int32_t operation, struct coder_io *io)
{
    terse_status status = TERSE_OK;

    do {
        if (io->in_len && e->since >= e->most)
            status = encoder_cut(e, io);
        if (status == TERSE_OK)
            status = encoder_part(e, operation, io);
        if (status == TERSE_OK && e->most < (size_t)1 << BLOCK_LOG && e->since >= e->most)
            status = encoder_cut(e, io);
    } while (status == TERSE_OK && io->in_len);
    if (status == TERSE_OK && operation == TERSE_FLUSH)
        e->since = e->given = 0;
    return status;
}

/* False: it is too much, or there is no memory, and what is held is all that is going to be. */
static bool hold(struct encoder *e, struct coder_io *io)
{
    size_t most = held_most(e->want.level);

    if (io->in_len > most - e->held_len)
        return false;
    if (io->in_len && !e->held) {
        e->held = blocks_take(e->blocks, most);
        if (!e->held)
            return false;
        e->bytes += blocks_size(e->held);
    }
    if (io->in_len)
        memcpy(e->held + e->held_len, io->in, io->in_len);
    e->held_len += io->in_len;
    io->in += io->in_len;
    io->in_len = 0;
    return true;
}

static void let_go(struct encoder *e)
{
    if (e->held)
        e->bytes -= blocks_size(e->held);
    blocks_give(e->blocks, e->held);
    e->held = NULL;
}

/* The length is known after all, or what comes next is a pause, or there is more to come. */
static bool set_up_late(struct encoder *e, int32_t operation, size_t len, bool all_held)
{
    struct shape shape = shape_of(&e->want);

    if (operation == TERSE_FINISH) {
        e->want.length = (int64_t)len;
        e->want.whole = all_held;
        if (e->want.automatic)
            e->want.level = codec_br_level(e->want.length, e->want.whole);
        shape = shape_of(&e->want);
    } else if (all_held) {
        shape = shape_paused(&e->want);
    }
    e->base.settled = need_of(&e->want, &shape);
    return set_up(e, &shape);
}

static terse_status give_held(struct encoder *e, struct coder_io *io)
{
    struct coder_io part = {e->held + e->held_at, e->held_len - e->held_at, io->out, io->out_len};
    terse_status status = encoder_blocks(e, TERSE_RUN, &part);

    e->held_at = e->held_len - part.in_len;
    io->out = part.out;
    io->out_len = part.out_len;
    if (status == TERSE_OK)
        let_go(e);
    return status;
}

static terse_status give_all(struct encoder *e, int32_t operation, struct coder_io *io)
{
    terse_status status = e->held ? give_held(e, io) : TERSE_OK;

    return status == TERSE_OK ? encoder_blocks(e, operation, io) : status;
}

static terse_status encoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    struct encoder *e = (struct encoder *)coder;
    terse_status status;
    jmp_buf escape;

    if (!e->state)
        return TERSE_E_BROKEN;
    if (!e->ready) {
        size_t len = e->held_len + io->in_len;
        bool all_held = hold(e, io);

        if (all_held && operation == TERSE_RUN)
            return TERSE_OK;
        if (!set_up_late(e, operation, len, all_held))
            return TERSE_E_BROKEN;
    }
    if (setjmp(escape)) {
        e->escape = NULL;
        e->state = NULL;
        blocks_give_list(e->blocks, &e->list);
        return TERSE_E_NOMEM;
    }
    e->escape = &escape;
    status = give_all(e, operation, io);
    e->escape = NULL;
    return status;
}

/* What is held is given back before the encoder has taken all of its own. */
static uint64_t encoder_need(const struct coder_want *want)
{
    struct shape shape = shape_of(want);

    return need_of(want, &shape) + (want->length < 0 ? blocks_cost(held_most(want->level)) : 0);
}

static bool encoder_cheaper(struct coder_want *want)
{
    static const int steps[] = {21, 20, 18, 16};
    uint64_t need = encoder_need(want);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (want->window && want->window <= steps[i])
            continue;
        want->window = steps[i];
        if (encoder_need(want) < need)
            return true;
    }
    return false;
}

static uint64_t encoder_bytes(const struct coder *coder)
{
    return ((const struct encoder *)coder)->bytes;
}

static void encoder_drop(struct blocks *blocks, struct coder *coder)
{
    struct encoder *e = (struct encoder *)coder;

    let_go(e);
    if (e->state)
        BrotliEncoderDestroyInstance(e->state);
    blocks_give(blocks, e);
}

const struct coder_kind coder_brotli_encoder = {
    .key = no_key,
    .make = encoder_make,
    .start = encoder_start,
    .run = encoder_run,
    .bytes = encoder_bytes,
    .need = encoder_need,
    .cheaper = encoder_cheaper,
    .drop = encoder_drop,
};
