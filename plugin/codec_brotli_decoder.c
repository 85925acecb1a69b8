/* SPDX-License-Identifier: MIT */
/* Decodes br.  The library has no reset: each body has an instance of its own, made of the pool's
 * warm blocks. */
#include "coder.h"

#include <string.h>
#include <brotli/decode.h>

static uint64_t no_key(const struct coder_want *want)
{
    (void)want;
    return 0;
}

struct decoder {
    struct coder base;
    struct blocks *blocks;
    uint64_t bytes; /* lent to this one */
    BrotliDecoderState *state;
    bool over; /* it is about to give more than it may */
};

/* What the library puts behind a window, in versions up to 1.0.9 and from 1.1.0 on. */
static bool is_window(size_t size)
{
    size_t slack = size & (((size_t)1 << (63 - __builtin_clzll(size))) - 1);

    return size > 65536 && (slack == 42 || slack == 542);
}

/* It fills all of its window before it gives anything, and has one made that is at most twice as large as
 * what the next part of the body is said to decode to.  So 20 bytes would cost a call 16 MB, which the
 * limits are going to refuse anyway. */
static void *decoder_take(void *opaque, size_t size)
{
    struct decoder *d = opaque;
    void *ptr;

    d->over = is_window(size) && size / 2 > d->base.longest;
    if (d->over || d->bytes + size > d->base.most)
        return NULL;
    ptr = blocks_take(d->blocks, size);
    if (ptr)
        d->bytes += blocks_size(ptr);
    return ptr;
}

static void decoder_give(void *opaque, void *ptr)
{
    struct decoder *d = opaque;

    if (ptr)
        d->bytes -= blocks_size(ptr);
    blocks_give(d->blocks, ptr);
}

static struct coder *decoder_make(struct blocks *blocks, const struct coder_want *want)
{
    struct decoder *d = blocks_take(blocks, sizeof *d);

    (void)want;
    if (!d)
        return NULL;
    memset(d, 0, sizeof *d);
    d->base.most = d->base.longest = UINT64_MAX;
    d->blocks = blocks;
    d->state = BrotliDecoderCreateInstance(decoder_take, decoder_give, d);
    if (!d->state) {
        blocks_give(blocks, d);
        return NULL;
    }
    return &d->base;
}

/* "Large window" streams are refused: the library's default. */
static bool decoder_start(struct coder *coder, const struct coder_want *want)
{
    (void)coder;
    (void)want;
    return true;
}

static terse_status decoder_error(const BrotliDecoderState *state)
{
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state);

    if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
        code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES)
        return TERSE_E_NOMEM;
    return TERSE_E_DATA;
}

static terse_status decoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    const struct decoder *d = (const struct decoder *)coder;
    BrotliDecoderState *state = d->state;

    if (!BrotliDecoderIsFinished(state)) {
        switch (BrotliDecoderDecompressStream(state, &io->in_len, &io->in, &io->out_len, &io->out,
                                              NULL)) {
        case BROTLI_DECODER_RESULT_SUCCESS:
            break;
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
            return TERSE_MORE;
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
            if (BrotliDecoderHasMoreOutput(state)) /* it says so even when it wants room as well */
                return TERSE_MORE;
            return operation == TERSE_FINISH ? TERSE_E_DATA : TERSE_OK;
        default:
            return d->over ? TERSE_E_LIMIT : decoder_error(state);
        }
    }
    if (io->in_len)
        return TERSE_E_DATA; /* bytes behind the last meta-block */
    return operation == TERSE_FINISH ? TERSE_END : TERSE_OK;
}

/* None of it stays. */
static uint64_t decoder_bytes(const struct coder *coder)
{
    return ((const struct decoder *)coder)->bytes;
}

/* Its window is in the coded body: up to 16 MB, mostly 4. */
static uint64_t decoder_need(const struct coder_want *want)
{
    return 128 * 1024 + coder_window_aside(want, 22);
}

static void decoder_drop(struct blocks *blocks, struct coder *coder)
{
    BrotliDecoderDestroyInstance(((struct decoder *)coder)->state);
    blocks_give(blocks, coder);
}

const struct coder_kind coder_brotli_decoder = {
    .decoder = true,
    .key = no_key,
    .make = decoder_make,
    .start = decoder_start,
    .run = decoder_run,
    .bytes = decoder_bytes,
    .need = decoder_need,
    .drop = decoder_drop,
};
