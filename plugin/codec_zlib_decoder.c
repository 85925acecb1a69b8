/* SPDX-License-Identifier: MIT */
/* Decodes gzip and deflate, by zlib; a body that is there as a whole by libdeflate, which takes half
 * the time or less. */
#include "coder.h"

#include "codec_zlib.h"
#include "coding.h"
#include "plugin_config.h"

#if HAVE_LIBDEFLATE
#include <libdeflate.h>

#define WHOLE_BYTES (12 * 1024) /* of its decompressor, measured */
#else
#define WHOLE_BYTES 0
#endif

struct decoder {
    struct coder base;
    z_stream z;
    bool gzip;
    bool fresh;   /* the first byte has yet to come */
    bool between; /* a member has ended, and no byte of another has come */
    bool begun;   /* a byte has come */
#if HAVE_LIBDEFLATE
    struct libdeflate_decompressor *whole;
#endif
};

/* One inflater serves both formats. */
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
    zlib_memory(&d->z, blocks);
    if (inflateInit2(&d->z, MAX_WBITS) != Z_OK) {
        blocks_give(blocks, d);
        return NULL;
    }
#if HAVE_LIBDEFLATE
    d->whole = libdeflate_alloc_decompressor(); /* without it zlib does */
    if (d->whole)
        blocks_note_more(blocks, WHOLE_BYTES);
#endif
    return &d->base;
}

static bool decoder_start(struct coder *coder, const struct coder_want *want)
{
    struct decoder *d = (struct decoder *)coder;

    d->gzip = want->coding == CODING_GZIP;
    d->between = d->begun = false;
    d->fresh = !d->gzip;
    return inflateReset2(&d->z, MAX_WBITS + (d->gzip ? GZIP_WRAP : 0)) == Z_OK;
}

/* Some send raw deflate under that name (RFC 9110 section 8.4.1.2).  Its first byte would have to be
 * of a stored block that fills up with other bits than zeros. */
static bool is_zlib(uint8_t first)
{
    return (first & 0x0f) == Z_DEFLATED && first >> 4 <= MAX_WBITS - 8;
}

/* ---- a body that is there as a whole ------------------------------------------------------ */

#if HAVE_LIBDEFLATE
#define WHOLE_MAX ((size_t)64 << 10) /* of input: as much as one call takes */
#define HEAD_MIN 18
#define FLAG_HEADER_CHECK 2 /* libdeflate does not look at it */

/* What the body's own end says of its length (RFC 1952 section 2.3.1). */
static size_t length_of_gzip(const uint8_t *in, size_t len)
{
    const uint8_t *end = in + len - 4;

    return end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
}

static enum libdeflate_result try_whole(struct decoder *d, const struct coder_io *io, size_t *taken,
                                        size_t *given)
{
    if (d->gzip) {
        size_t length = length_of_gzip(io->in, io->in_len);

        if (io->in[3] & FLAG_HEADER_CHECK || length > io->out_len)
            return LIBDEFLATE_INSUFFICIENT_SPACE;
        return libdeflate_gzip_decompress_ex(d->whole, io->in, io->in_len, io->out, length, taken,
                                             given);
    }
    if (!is_zlib(io->in[0]))
        return LIBDEFLATE_BAD_DATA;
    return libdeflate_zlib_decompress_ex(d->whole, io->in, io->in_len, io->out, io->out_len, taken,
                                         given);
}

/* In one go, by libdeflate.  False: nothing was taken, for zlib is to say what it is. */
static bool decode_whole(struct decoder *d, struct coder_io *io)
{
    size_t taken = 0, given = 0;

    if (!d->whole || io->in_len < HEAD_MIN || io->in_len > WHOLE_MAX ||
        try_whole(d, io, &taken, &given) != LIBDEFLATE_SUCCESS || taken != io->in_len)
        return false;
    io->in += taken;
    io->in_len = 0;
    io->out += given;
    io->out_len -= given;
    d->begun = d->between = true;
    d->fresh = false;
    return true;
}
#else
static bool decode_whole(struct decoder *d, struct coder_io *io)
{
    (void)d;
    (void)io;
    return false;
}
#endif

/* ---- in pieces ---------------------------------------------------------------------------- */

static terse_status decoder_step(struct decoder *d, struct coder_io *io)
{
    uInt in_len = slice_of(io->in_len), out_len = slice_of(io->out_len);
    int status;

    d->z.next_in = (Bytef *)(uintptr_t)io->in;
    d->z.avail_in = in_len;
    d->z.next_out = io->out;
    d->z.avail_out = out_len;
    status = inflate(&d->z, Z_NO_FLUSH);
    io->in += in_len - d->z.avail_in;
    io->in_len -= in_len - d->z.avail_in;
    io->out += out_len - d->z.avail_out;
    io->out_len -= out_len - d->z.avail_out;
    if (status == Z_STREAM_END)
        d->between = true;
    else if (status == Z_MEM_ERROR)
        return TERSE_E_NOMEM;
    else if (status == Z_BUF_ERROR) /* nothing to do: for want of input or of room */
        return in_len && out_len ? TERSE_E_DATA : TERSE_OK;
    else if (status != Z_OK)
        return TERSE_E_DATA;
    return TERSE_OK;
}

static terse_status decoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    struct decoder *d = (struct decoder *)coder;
    terse_status status;

    if (!d->begun && operation == TERSE_FINISH && decode_whole(d, io))
        return TERSE_END;
    d->begun = d->begun || io->in_len;
    if (d->fresh && io->in_len) {
        d->fresh = false;
        if (!is_zlib(*io->in) && inflateReset2(&d->z, -MAX_WBITS) != Z_OK)
            return TERSE_E_DATA;
    }
    for (;;) {
        if (d->between) {
            if (!io->in_len)
                return operation == TERSE_FINISH ? TERSE_END : TERSE_OK;
            /* gzip members may follow one another (RFC 1952 section 2.2) */
            if (!d->gzip || inflateReset(&d->z) != Z_OK)
                return TERSE_E_DATA;
            d->between = false;
        }
        status = decoder_step(d, io);
        if (status < 0)
            return status;
        if (d->between)
            continue;
        if (!io->out_len)
            return TERSE_MORE;
        if (!io->in_len)
            return operation == TERSE_FINISH ? TERSE_E_DATA : TERSE_OK;
    }
}

static uint64_t decoder_bytes(const struct coder *coder)
{
    const struct decoder *d = (const struct decoder *)coder;
    uint64_t bytes = 40 * 1024 + sizeof *d;

#if HAVE_LIBDEFLATE
    bytes += d->whole ? WHOLE_BYTES : 0;
#endif
    return bytes;
}

static uint64_t decoder_need(const struct coder_want *want)
{
    (void)want;
    return 48 * 1024 + WHOLE_BYTES;
}

static void decoder_drop(struct blocks *blocks, struct coder *coder)
{
    struct decoder *d = (struct decoder *)coder;

    inflateEnd(&d->z);
#if HAVE_LIBDEFLATE
    if (d->whole)
        blocks_note_less(blocks, WHOLE_BYTES);
    libdeflate_free_decompressor(d->whole);
#endif
    blocks_give(blocks, d);
}

const struct coder_kind coder_zlib_decoder = {
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
