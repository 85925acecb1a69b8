/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952) and deflate, which is the zlib format (RFC 1950), by zlib. */
#include "coder.h"

#include <string.h>

#include "codec_zlib.h"
#include "coding.h"

/* ---- encoder ----------------------------------------------------------------------------- */

/* With little room left deflate writes here: a flush into fewer than 7 bytes of room would repeat
 * its marker, with 1 byte of room for ever. */
#define SPILL 64
#define TRAILER_MAX 8

/* zlib makes the deflate bytes alone; what is before and behind them is written here, so that one
 * coder can go on where another has stopped, and serves both formats. */
struct encoder {
    struct coder base;
    z_stream z;
    int level;
    bool gzip;
    bool headed; /* the format's header was written */
    bool more;   /* deflate stopped for want of room */
    bool ended;  /* the last byte was written, to out or to spill */
    uint32_t check;
    uint64_t length; /* of the input so far */
    uint8_t spill_pos;
    uint8_t spill_len;
    uint8_t spill[SPILL + TRAILER_MAX];
};

/* Window and memory fitted to a known length: what a long body needs is 268 KB, a short one 18.
 * The window reaches back (1 << bits) - 262 bytes.  windowBits 8 is not to be had for gzip, and
 * memLevel 9 is slower than 8 and not smaller. */
static const struct fit {
    int64_t length;
    int window;
    int memory;
} fits[] = {
    {(1 << 10) - 262, 10, 4},
    {(1 << 12) - 262, 12, 6},
    {(1 << 14) - 262, 14, 7},
    {INT64_MAX, 15, 8},
};

/* Where memory is short: about a quarter of it, and 9 % more bytes of a long text at level 4. */
#define SMALL_WINDOW 13
static const struct fit small_fit = {INT64_MAX, SMALL_WINDOW, 6};

static const struct fit *encoder_fit(const struct coder_want *want)
{
    const struct fit *fit = fits;
    int64_t length = want->length < 0 ? INT64_MAX : want->length;

    while (fit->length < length)
        fit++;
    return want->window && want->window < fit->window ? &small_fit : fit;
}

static uint64_t fit_bytes(const struct fit *fit)
{
    return (UINT64_C(1) << (fit->window + 2)) + (UINT64_C(1) << (fit->memory + 9)) + 6144 +
           sizeof(struct encoder);
}

static uint64_t encoder_key(const struct coder_want *want)
{
    return (uint64_t)encoder_fit(want)->window;
}

static struct coder *encoder_make(struct blocks *blocks, const struct coder_want *want)
{
    const struct fit *fit = encoder_fit(want);
    struct encoder *e = blocks_take(blocks, sizeof *e);

    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    zlib_memory(&e->z, blocks);
    e->level = want->level;
    if (deflateInit2(&e->z, e->level, Z_DEFLATED, -fit->window, fit->memory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        blocks_give(blocks, e);
        return NULL;
    }
    return &e->base;
}

static bool encoder_start(struct coder *coder, const struct coder_want *want)
{
    struct encoder *e = (struct encoder *)coder;

    e->gzip = want->coding == CODING_GZIP;
    e->headed = e->more = e->ended = false;
    e->check = e->gzip ? 0 : 1; /* RFC 1952 section 8, RFC 1950 section 9 */
    e->length = 0;
    e->spill_pos = e->spill_len = 0;
    if (deflateReset(&e->z) != Z_OK)
        return false;
    if (e->level == want->level)
        return true;
    e->z.avail_in = e->z.avail_out = 0;
    e->level = want->level;
    return deflateParams(&e->z, e->level, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* RFC 1952 section 2.3.  Its mtime is 0: equal bodies give equal bytes. */
static uint8_t gzip_header(const struct encoder *e, uint8_t *to)
{
    static const uint8_t header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 /* Unix */};

    memcpy(to, header, sizeof header);
    to[8] = e->level == 9 ? 2 : e->level < 2 ? 4 : 0;
    return sizeof header;
}

/* RFC 1950 section 2.2; the level is told as zlib does it. */
static uint8_t zlib_header(const struct encoder *e, uint8_t *to)
{
    unsigned level = e->level < 2 ? 0 : e->level < 6 ? 1 : e->level == 6 ? 2 : 3;
    unsigned header = (((unsigned)e->base.key - 8) << 4 | Z_DEFLATED) << 8 | level << 6;

    header += 31 - header % 31;
    to[0] = (uint8_t)(header >> 8);
    to[1] = (uint8_t)header;
    return 2;
}

static void encoder_head(struct encoder *e)
{
    e->spill_len = e->gzip ? gzip_header(e, e->spill) : zlib_header(e, e->spill);
    e->headed = true;
}

/* CRC-32 and length, lowest byte first, or Adler-32, highest byte first. */
static uint8_t encoder_trailer(const struct encoder *e, uint8_t *to)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(e->check >> (e->gzip ? 8 * i : 24 - 8 * i));
        to[i + 4] = (uint8_t)(e->length >> 8 * i);
    }
    return e->gzip ? 8 : 4;
}

static void encoder_count(struct encoder *e, const uint8_t *in, size_t len)
{
    e->check = (uint32_t)(e->gzip ? crc32_z(e->check, in, len) : adler32_z(e->check, in, len));
    e->length += len;
}

static void encoder_drain(struct encoder *e, struct coder_io *io)
{
    size_t n = (size_t)(e->spill_len - e->spill_pos);

    if (n > io->out_len)
        n = io->out_len;
    memcpy(io->out, e->spill + e->spill_pos, n);
    io->out += n;
    io->out_len -= n;
    e->spill_pos = (uint8_t)(e->spill_pos + n);
    if (e->spill_pos == e->spill_len)
        e->spill_pos = e->spill_len = 0;
}

/* One call of deflate, into out or into the empty spill.  False: zlib is at odds with itself. */
static bool encoder_step(struct encoder *e, int flush, struct coder_io *io)
{
    bool direct = io->out_len >= SPILL;
    uInt in_len = slice_of(io->in_len);
    uInt out_len = direct ? slice_of(io->out_len) : SPILL;
    int status;

    e->z.next_in = (Bytef *)(uintptr_t)io->in;
    e->z.avail_in = in_len;
    e->z.next_out = direct ? io->out : e->spill;
    e->z.avail_out = out_len;
    status = deflate(&e->z, in_len == io->in_len ? flush : Z_NO_FLUSH);
    in_len -= e->z.avail_in;
    encoder_count(e, io->in, in_len);
    io->in += in_len;
    io->in_len -= in_len;
    out_len -= e->z.avail_out;
    if (direct) {
        io->out += out_len;
        io->out_len -= out_len;
    } else {
        e->spill_len = (uint8_t)out_len;
    }
    e->more = !e->z.avail_out;
    e->ended = status == Z_STREAM_END;
    if (e->ended)
        e->spill_len = (uint8_t)(e->spill_len + encoder_trailer(e, e->spill + e->spill_len));
    if (status == Z_BUF_ERROR) /* nothing to do is no failure, as long as no work is left */
        return !e->z.avail_in || !e->z.avail_out;
    return status == Z_OK || status == Z_STREAM_END;
}

static terse_status encoder_run(struct coder *coder, int32_t operation, struct coder_io *io)
{
    static const int flush[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    struct encoder *e = (struct encoder *)coder;
    bool complete = operation == TERSE_RUN && !io->in_len && !e->more;

    for (;;) {
        encoder_drain(e, io);
        if (e->spill_len)
            return TERSE_MORE;
        if (e->ended)
            return TERSE_END;
        if (complete)
            return TERSE_OK;
        if (e->more && !io->out_len)
            return TERSE_MORE;
        if (!e->headed) {
            encoder_head(e);
            continue;
        }
        if (!encoder_step(e, flush[operation], io))
            return TERSE_E_BROKEN;
        complete = !io->in_len && !e->more && operation != TERSE_FINISH;
    }
}

/* After a flush the bytes end at a boundary (RFC 1951 section 3.2.4): any deflate blocks may follow,
 * also those of a coder that knows nothing of what came before. */
static void encoder_park(const struct coder *coder, struct parked *parked)
{
    static const uint8_t last_block[] = {3, 0}; /* with fixed codes, and empty */
    const struct encoder *e = (const struct encoder *)coder;

    parked->length = e->length;
    parked->check = e->check;
    parked->end_len = 0;
    if (e->headed) {
        memcpy(parked->end, last_block, sizeof last_block);
        parked->end_len =
            (uint8_t)(sizeof last_block + encoder_trailer(e, parked->end + sizeof last_block));
    }
}

static void encoder_resume(struct coder *coder, const struct parked *parked)
{
    struct encoder *e = (struct encoder *)coder;

    e->length = parked->length;
    e->check = parked->check;
    e->headed = true;
}

static uint64_t encoder_bytes(const struct coder *coder)
{
    uint64_t window = coder->key;
    const struct fit *fit = fits;

    if (window == SMALL_WINDOW)
        return fit_bytes(&small_fit);
    while ((uint64_t)fit->window != window)
        fit++;
    return fit_bytes(fit);
}

/* State, window, two tables, pending output and our own part are a block each. */
static uint64_t encoder_need(const struct coder_want *want)
{
    return fit_bytes(encoder_fit(want)) + 6 * BLOCK_ALIGN + 1024;
}

static bool encoder_cheaper(struct coder_want *want)
{
    if (encoder_fit(want)->window <= SMALL_WINDOW)
        return false;
    want->window = SMALL_WINDOW;
    return true;
}

static void encoder_drop(struct blocks *blocks, struct coder *coder)
{
    struct encoder *e = (struct encoder *)coder;

    deflateEnd(&e->z);
    blocks_give(blocks, e);
}

const struct coder_kind coder_zlib_encoder = {
    .kept = true,
    .key = encoder_key,
    .make = encoder_make,
    .start = encoder_start,
    .run = encoder_run,
    .park = encoder_park,
    .resume = encoder_resume,
    .bytes = encoder_bytes,
    .need = encoder_need,
    .cheaper = encoder_cheaper,
    .drop = encoder_drop,
};
