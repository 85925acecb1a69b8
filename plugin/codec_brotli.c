/* SPDX-License-Identifier: MIT */
/* br (RFC 7932).  The library has no reset: each body has an instance of its own, made of the
 * pool's warm blocks. */
#include "coder.h"

#include <setjmp.h>
#include <string.h>
#include <brotli/decode.h>
#include <brotli/encode.h>

/* A window of 4 MB; the format's largest is 16 MB, and "large window" is another format. */
#define WINDOW_MAX 22
/* For bodies that are coded piece by piece.  The encoder gathers up to twice its window before it
 * writes: measured on 11 MB of text at quality 4 in pieces of 64 KB, the longest call is 5 ms with
 * 19 bits and 24 ms with 22, and it holds 7 MB and 35 MB. */
#define WINDOW_STREAM 19
/* A window reaches back (1 << bits) - 16 bytes (RFC 7932 section 9.1). */
#define WINDOW_GAP 16
#define SIZE_HINT_MAX (INT64_C(1) << 30)

static uint64_t no_key(const struct coder_want *want)
{
    (void)want;
    return 0;
}

/* It is all in the blocks, and none of it stays. */
static uint64_t no_bytes(const struct coder *coder)
{
    (void)coder;
    return 0;
}

/* ---- encoder ----------------------------------------------------------------------------- */

/* When its allocator says no, the encoder calls exit(), unless it was built otherwise, and Debian's
 * was not.  So while it runs the allocator does not come back without memory, but leaves the
 * encoder by a jump; the blocks that it had are on a list, and the instance is forgotten. */
struct encoder {
    struct coder base;
    struct blocks *blocks;
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
    return ptr;
}

static void encoder_give(void *opaque, void *ptr)
{
    blocks_give(((struct encoder *)opaque)->blocks, ptr);
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

static bool encoder_start(struct coder *coder, const struct coder_want *want)
{
    BrotliEncoderState *state = ((struct encoder *)coder)->state;
    int most = want->whole ? WINDOW_MAX : WINDOW_STREAM;
    uint32_t window = (uint32_t)most;

    if (want->length >= 0) {
        int64_t hint = want->length < SIZE_HINT_MAX ? want->length : SIZE_HINT_MAX;

        window = (uint32_t)coder_fit(hint + WINDOW_GAP, BROTLI_MIN_WINDOW_BITS, most);
        if (!BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT, (uint32_t)hint))
            return false;
    }
    return BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)want->level) &&
           BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, window);
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

static terse_status encoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    struct encoder *e = (struct encoder *)coder;
    terse_status status;
    jmp_buf escape;

    if (!e->state)
        return TERSE_E_BROKEN;
    if (setjmp(escape)) {
        e->escape = NULL;
        e->state = NULL;
        blocks_give_list(e->blocks, &e->list);
        return TERSE_E_NOMEM;
    }
    e->escape = &escape;
    status = encoder_steps(e->state, operation, io);
    e->escape = NULL;
    return status;
}

static void encoder_drop(struct blocks *blocks, struct coder *coder)
{
    struct encoder *e = (struct encoder *)coder;

    if (e->state)
        BrotliEncoderDestroyInstance(e->state);
    blocks_give(blocks, e);
}

const struct coder_kind coder_brotli_encoder = {
    .key = no_key,
    .make = encoder_make,
    .start = encoder_start,
    .run = encoder_run,
    .bytes = no_bytes,
    .drop = encoder_drop,
};

/* ---- decoder ----------------------------------------------------------------------------- */

struct decoder {
    struct coder base;
    BrotliDecoderState *state;
};

static void *decoder_take(void *opaque, size_t size)
{
    return blocks_take(opaque, size);
}

static void decoder_give(void *opaque, void *ptr)
{
    blocks_give(opaque, ptr);
}

static struct coder *decoder_make(struct blocks *blocks, const struct coder_want *want)
{
    struct decoder *d = blocks_take(blocks, sizeof *d);

    (void)want;
    if (!d)
        return NULL;
    memset(d, 0, sizeof *d);
    d->state = BrotliDecoderCreateInstance(decoder_take, decoder_give, blocks);
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
    BrotliDecoderState *state = ((struct decoder *)coder)->state;

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
            return decoder_error(state);
        }
    }
    if (io->in_len)
        return TERSE_E_DATA; /* bytes behind the last meta-block */
    return operation == TERSE_FINISH ? TERSE_END : TERSE_OK;
}

static void decoder_drop(struct blocks *blocks, struct coder *coder)
{
    BrotliDecoderDestroyInstance(((struct decoder *)coder)->state);
    blocks_give(blocks, coder);
}

const struct coder_kind coder_brotli_decoder = {
    .key = no_key,
    .make = decoder_make,
    .start = decoder_start,
    .run = decoder_run,
    .bytes = no_bytes,
    .drop = decoder_drop,
};
