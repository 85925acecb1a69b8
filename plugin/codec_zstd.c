/* SPDX-License-Identifier: MIT */
/* zstd (RFC 8878) with windows of up to 8 MB (RFC 9659).  Making a context costs more than coding a
 * small body, so contexts are kept. */
#include "coder.h"

#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY /* for contexts in memory of ours; see struct memory */
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_MIN 10
#define WINDOW_MAX 23

static terse_status failure_of(size_t result, terse_status otherwise)
{
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? TERSE_E_NOMEM : otherwise;
}

/* A context has 1 to 4 MB: malloc, once it has freed one, keeps such sizes among small ones, and a
 * thread that coded many at a time never gives them back (measured: 150 MB, after a load over four
 * threads had ended).  These two are exported by every libzstd since 1.0, but not promised: where
 * they are missing the library takes its own memory. */
extern __typeof__(ZSTD_createCCtx_advanced) ZSTD_createCCtx_advanced __attribute__((weak));
extern __typeof__(ZSTD_createDCtx_advanced) ZSTD_createDCtx_advanced __attribute__((weak));
/* The same goes for these, which say how much a context is going to take. */
extern __typeof__(ZSTD_getCParams) ZSTD_getCParams __attribute__((weak));
extern __typeof__(ZSTD_estimateCCtxSize_usingCParams) ZSTD_estimateCCtxSize_usingCParams
    __attribute__((weak));
extern __typeof__(ZSTD_estimateCStreamSize_usingCParams) ZSTD_estimateCStreamSize_usingCParams
    __attribute__((weak));

struct memory {
    struct blocks *blocks;
    uint64_t bytes;              /* lent to one context */
    const struct coder *decoder; /* a window is taken only where it may be */
};

static void *context_alloc(void *opaque, size_t size)
{
    struct memory *memory = opaque;
    void *ptr;

    if (memory->decoder && memory->bytes + size > memory->decoder->most)
        return NULL;
    ptr = blocks_take(memory->blocks, size);
    if (ptr)
        memory->bytes += blocks_size(ptr);
    return ptr;
}

static void context_free(void *opaque, void *ptr)
{
    struct memory *memory = opaque;

    if (ptr)
        memory->bytes -= blocks_size(ptr);
    blocks_give(memory->blocks, ptr);
}

/* ---- encoder ----------------------------------------------------------------------------- */

struct encoder {
    struct coder base;
    struct memory memory;
    ZSTD_CCtx *context;
    bool begun;    /* some input was taken */
    size_t most;   /* input of the open block */
    size_t since;  /* so much of it was taken */
    size_t given;  /* output meanwhile */
    uint32_t easy; /* so many blocks before it shrank well */
};

/* A block is of 128 KB, and coded in one call: at level 3 up to 2.2 ms where text shrinks badly.  Half
 * of it, flushed, takes 1.0 ms.  That costs 0.1 % of 100 MB, but 0.3 % of text that shrinks well to
 * the end, and there no call is long: so blocks are whole again after some that were done easily.
 * With levels set by hand it is 1.0 ms at 4, 2.3 ms at 5, 3.1 ms at 6, 4.1 ms at 9. */
#define BLOCK_MOST ((size_t)128 << 10)
#define BLOCK_SHORT ((size_t)64 << 10)
#define SHRINKS_WELL 6
#define EASY_ENOUGH 8

/* The window that a level has by itself when the length is not known.  Levels from 20 would pass
 * 8 MB, those from 17 are at it. */
static int level_window(int level)
{
    return level < 2 ? 19 : level < 3 ? 20 : level < 9 ? 21 : level < 17 ? 22 : WINDOW_MAX;
}

/* No table that a level has by itself is smaller, as log2 of its entries. */
static int level_table(int level)
{
    return level < 3 ? 12 : level < 5 ? 16 : level < 9 ? 18 : 20;
}

/* Streams are given no pledge, for a body may turn out shorter than announced; a window that fits
 * its announced length saves the memory.  0: the level's own. */
static int stream_window(const struct coder_want *want)
{
    int own = level_window(want->level);
    int most = want->window && want->window < own ? want->window : own;
    int fit = want->length < 0 ? most : coder_fit(want->length, WINDOW_MIN, most);

    return fit < own || own == WINDOW_MAX ? fit : 0;
}

/* A context keeps its memory, and takes other memory when a body needs more, or for long needs
 * much less.  So bodies that need about as much share one: same level, same window, and whole
 * bodies within a factor of four. */
static uint64_t encoder_key(const struct coder_want *want)
{
    uint64_t size;

    if (want->whole)
        size = (uint64_t)(coder_fit(want->length, WINDOW_MIN, WINDOW_MAX) + 1) / 2 + 0x80;
    else
        size = (uint64_t)stream_window(want);
    return (uint64_t)(uint32_t)want->level << 8 | size;
}

static struct coder *encoder_make(struct blocks *blocks, const struct coder_want *want)
{
    struct encoder *e = blocks_take(blocks, sizeof *e);

    (void)want;
    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    e->memory.blocks = blocks;
    e->base.own_memory = !ZSTD_createCCtx_advanced;
    e->context =
        e->base.own_memory
            ? ZSTD_createCCtx()
            : ZSTD_createCCtx_advanced((ZSTD_customMem){context_alloc, context_free, &e->memory});
    if (!e->context) {
        blocks_give(blocks, e);
        return NULL;
    }
    return &e->base;
}

static bool encoder_set(ZSTD_CCtx *context, ZSTD_cParameter parameter, int value)
{
    return !ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value));
}

/* The library fits its tables to a window only when the length is pledged. */
static bool encoder_set_window(ZSTD_CCtx *context, int level, int window)
{
    if (!encoder_set(context, ZSTD_c_windowLog, window))
        return false;
    if (window >= level_table(level))
        return true;
    return encoder_set(context, ZSTD_c_hashLog, window + 1) &&
           encoder_set(context, ZSTD_c_chainLog, window);
}

static void block_begins(struct encoder *e, size_t most)
{
    e->most = most;
    e->since = e->given = 0;
}

static bool encoder_start(struct coder *coder, const struct coder_want *want)
{
    ZSTD_CCtx *context = ((struct encoder *)coder)->context;
    int window = stream_window(want);

    ((struct encoder *)coder)->begun = false;
    ((struct encoder *)coder)->easy = 0;
    block_begins((struct encoder *)coder, BLOCK_SHORT);
    if (ZSTD_isError(ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters)) ||
        !encoder_set(context, ZSTD_c_compressionLevel, want->level))
        return false;
    if (want->whole) /* the length is exact, and the library fits all by it */
        return level_window(want->level) < WINDOW_MAX ||
               encoder_set(context, ZSTD_c_windowLog, window);
    return !window || encoder_set_window(context, want->level, window);
}

static terse_status encoder_steps(struct encoder *e, int32_t operation, struct coder_io *io)
{
    static const ZSTD_EndDirective directives[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
    size_t left;

    for (;;) {
        ZSTD_inBuffer in = {io->in, io->in_len, 0};
        ZSTD_outBuffer out = {io->out, io->out_len, 0};

        left = ZSTD_compressStream2(e->context, &out, &in, directives[operation]);
        if (ZSTD_isError(left))
            return TERSE_E_BROKEN;
        e->begun |= in.pos > 0;
        e->since += in.pos;
        e->given += out.pos;
        io->in += in.pos;
        io->in_len -= in.pos;
        io->out += out.pos;
        io->out_len -= out.pos;
        if (!io->in_len && (operation == TERSE_RUN || !left))
            return operation == TERSE_FINISH ? TERSE_END : TERSE_OK;
        if (!io->out_len)
            return TERSE_MORE;
        if (!in.pos && !out.pos)
            return TERSE_E_BROKEN;
    }
}

/* The open block is full.  One of 128 KB the library ends by itself. */
static terse_status encoder_cut(struct encoder *e, struct coder_io *io)
{
    struct coder_io none = {io->in, 0, io->out, io->out_len};
    terse_status status = TERSE_OK;

    if (e->most < BLOCK_MOST)
        status = encoder_steps(e, TERSE_FLUSH, &none);
    io->out = none.out;
    io->out_len = none.out_len;
    if (status != TERSE_OK)
        return status;
    e->easy = e->given * SHRINKS_WELL <= e->since ? e->easy + 1 : 0;
    block_begins(e, e->easy < EASY_ENOUGH ? BLOCK_SHORT : BLOCK_MOST);
    return status;
}

static terse_status encoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    struct encoder *e = (struct encoder *)coder;
    terse_status status;

    for (;;) {
        size_t n = io->in_len < e->most - e->since ? io->in_len : e->most - e->since;
        size_t rest = io->in_len - n;

        io->in_len = n;
        status = encoder_steps(e, rest ? TERSE_RUN : operation, io);
        io->in_len += rest;
        if (status != TERSE_OK)
            return status;
        if (operation == TERSE_FLUSH && !rest)
            block_begins(e, e->most);
        if (e->since == e->most)
            status = encoder_cut(e, io);
        if (status != TERSE_OK || !rest)
            return status;
    }
}

static terse_status encoder_whole(struct coder *coder, struct coder_io *io)
{
    ZSTD_CCtx *context = ((struct encoder *)coder)->context;
    size_t n = ZSTD_compress2(context, io->out, io->out_len, io->in, io->in_len);

    if (ZSTD_isError(n))
        return ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall ? TERSE_MORE
                                                                   : failure_of(n, TERSE_E_BROKEN);
    io->in += io->in_len;
    io->in_len = 0;
    io->out += n;
    io->out_len -= n;
    return TERSE_END;
}

/* Between two blocks a frame can be ended, but not gone on with by another context: blocks refer to
 * the offsets of those before.  So the frame ends when the source goes on, and another follows it,
 * as RFC 8878 section 3 has it.  Clients that feed libzstd's streaming decoder take that: curl,
 * Firefox, Chromium.  Others take the end of the first frame for the end of the body, or for an
 * error: reqwest until 2025, aiohttp until 2026, urllib3 until 2.0.2, Node's zlib.  Hence the setting
 * zstd.frames. */
static void encoder_park(const struct coder *coder, struct parked *parked)
{
    static const uint8_t last_block[] = {1, 0, 0}; /* raw and empty; the frame has no checksum */

    parked->end_len = 0;
    if (((const struct encoder *)coder)->begun) {
        memcpy(parked->end, last_block, sizeof last_block);
        parked->end_len = sizeof last_block;
    }
}

static uint64_t encoder_bytes(const struct coder *coder)
{
    const struct encoder *e = (const struct encoder *)coder;

    return coder->own_memory ? ZSTD_sizeof_CCtx(e->context) : e->memory.bytes;
}

static uint64_t encoder_need(const struct coder_want *want)
{
    int window = want->whole ? 0 : stream_window(want);
    ZSTD_compressionParameters p;
    size_t bytes;

    if (!ZSTD_getCParams || !ZSTD_estimateCCtxSize_usingCParams ||
        !ZSTD_estimateCStreamSize_usingCParams) /* about so much, at the levels of "auto" */
        return UINT64_C(2) << (window ? window : level_window(want->level));
    p = ZSTD_getCParams(want->level, want->whole ? (unsigned long long)want->length : 0, 0);
    if (window) {
        p.windowLog = (unsigned)window;
        if (window < level_table(want->level)) {
            p.hashLog = p.windowLog + 1;
            p.chainLog = p.windowLog;
        }
    }
    bytes = want->whole ? ZSTD_estimateCCtxSize_usingCParams(p)
                        : ZSTD_estimateCStreamSize_usingCParams(p);
    return blocks_cost(bytes) + blocks_cost(sizeof(struct encoder));
}

/* Low levels have small tables; the window of a whole body is no longer than the body anyway. */
static bool encoder_cheaper(struct coder_want *want)
{
    static const struct {
        int level;
        int window;
    } steps[] = {{3, 18}, {1, 15}};
    uint64_t need = encoder_need(want);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (want->window && want->window <= steps[i].window)
            continue;
        want->window = steps[i].window;
        if (want->level > steps[i].level)
            want->level = steps[i].level;
        if (encoder_need(want) < need)
            return true;
    }
    return false;
}

static void encoder_drop(struct blocks *blocks, struct coder *coder)
{
    ZSTD_freeCCtx(((struct encoder *)coder)->context);
    blocks_give(blocks, coder);
}

const struct coder_kind coder_zstd_encoder = {
    .kept = true,
    .key = encoder_key,
    .make = encoder_make,
    .start = encoder_start,
    .run = encoder_run,
    .whole = encoder_whole,
    .park = encoder_park,
    .bytes = encoder_bytes,
    .need = encoder_need,
    .cheaper = encoder_cheaper,
    .drop = encoder_drop,
};

/* ---- decoder ----------------------------------------------------------------------------- */

struct decoder {
    struct coder base;
    struct memory memory;
    ZSTD_DCtx *context;
    bool begun;   /* some frame has been seen */
    bool between; /* no frame is open */
    bool pending; /* output was left behind for want of room */
    bool stalled; /* without room nothing more can be done */
};

static uint64_t decoder_key(const struct coder_want *want)
{
    (void)want;
    return 0;
}

static struct coder *decoder_make(struct blocks *blocks, const struct coder_want *want)
{
    struct decoder *d = blocks_take(blocks, sizeof *d);

    (void)want;
    if (!d)
        return NULL;
    memset(d, 0, sizeof *d);
    d->memory.blocks = blocks;
    d->memory.decoder = &d->base;
    d->base.most = UINT64_MAX;
    d->base.own_memory = !ZSTD_createDCtx_advanced;
    d->context =
        d->base.own_memory
            ? ZSTD_createDCtx()
            : ZSTD_createDCtx_advanced((ZSTD_customMem){context_alloc, context_free, &d->memory});
    if (!d->context) {
        blocks_give(blocks, d);
        return NULL;
    }
    return &d->base;
}

static bool decoder_start(struct coder *coder, const struct coder_want *want)
{
    struct decoder *d = (struct decoder *)coder;

    (void)want;
    d->begun = d->pending = d->stalled = false;
    d->between = true;
    return !ZSTD_isError(ZSTD_DCtx_reset(d->context, ZSTD_reset_session_and_parameters)) &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(d->context, ZSTD_d_windowLogMax, WINDOW_MAX));
}

/* The first byte of a frame's magic number (RFC 8878 section 3.1).  The library may be built to
 * read older formats too, which are not this coding. */
static bool frame_may_start_with(uint8_t byte)
{
    return byte == 0x28 || (byte & 0xf0) == 0x50;
}

static terse_status decoder_step(struct decoder *d, struct coder_io *io)
{
    ZSTD_inBuffer in = {io->in, io->in_len, 0};
    ZSTD_outBuffer out = {io->out, io->out_len, 0};
    size_t left;

    if (d->between && !frame_may_start_with(*io->in))
        return TERSE_E_DATA;
    left = ZSTD_decompressStream(d->context, &out, &in);
    if (ZSTD_isError(left))
        return failure_of(left, TERSE_E_DATA);
    io->in += in.pos;
    io->in_len -= in.pos;
    io->out += out.pos;
    io->out_len -= out.pos;
    d->begun = true;
    d->between = !left;
    d->pending = left && !io->out_len;
    d->stalled = !io->out_len && !in.pos && !out.pos;
    return TERSE_OK;
}

/* Frames may follow one another (RFC 8878 section 3). */
static terse_status decoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    struct decoder *d = (struct decoder *)coder;
    terse_status status;

    if (io->out_len)
        d->stalled = false;
    while ((io->in_len || d->pending) && !d->stalled) {
        status = decoder_step(d, io);
        if (status < 0)
            return status;
        if (d->pending && !io->in_len)
            break;
    }
    if (io->in_len || d->pending)
        return TERSE_MORE;
    if (operation != TERSE_FINISH)
        return TERSE_OK;
    return d->begun && d->between ? TERSE_END : TERSE_E_DATA;
}

static uint64_t decoder_bytes(const struct coder *coder)
{
    const struct decoder *d = (const struct decoder *)coder;

    return coder->own_memory ? ZSTD_sizeof_DCtx(d->context) : d->memory.bytes;
}

/* Its window is in the coded body: up to 8 MB, mostly 2. */
static uint64_t decoder_need(const struct coder_want *want)
{
    return 256 * 1024 + coder_window_aside(want, 21);
}

static void decoder_drop(struct blocks *blocks, struct coder *coder)
{
    ZSTD_freeDCtx(((struct decoder *)coder)->context);
    blocks_give(blocks, coder);
}

const struct coder_kind coder_zstd_decoder = {
    .decoder = true,
    .kept = true,
    .key = decoder_key,
    .make = decoder_make,
    .start = decoder_start,
    .run = decoder_run,
    .bytes = decoder_bytes,
    .need = decoder_need,
    .drop = decoder_drop,
};
