/* SPDX-License-Identifier: MIT */
/* gzip and deflate bodies that are coded whole, by libdeflate: half of zlib's time or less at the
 * same size.  Its gzip header has mtime 0. */
#include "coder.h"

#include <string.h>
#include <libdeflate.h>

#include "coding.h"

#define LEVEL_MAX 12

struct encoder {
    struct coder base;
    struct libdeflate_compressor *compressor;
    bool gzip;
};

/* A level out of range must not look like a lack of memory. */
static int level_of(const struct coder_want *want)
{
    return want->level < 1 ? 1 : want->level > LEVEL_MAX ? LEVEL_MAX : want->level;
}

static uint64_t encoder_key(const struct coder_want *want)
{
    return (uint64_t)level_of(want);
}

static struct coder *encoder_make(struct blocks *blocks, const struct coder_want *want)
{
    struct encoder *e = blocks_take(blocks, sizeof *e);

    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    e->base.own_memory = true;
    e->compressor = libdeflate_alloc_compressor(level_of(want));
    if (!e->compressor) {
        blocks_give(blocks, e);
        return NULL;
    }
    return &e->base;
}

static bool encoder_start(struct coder *coder, const struct coder_want *want)
{
    struct encoder *e = (struct encoder *)coder;

    e->gzip = want->coding == CODING_GZIP;
    return true;
}

static terse_status encoder_whole(struct coder *coder, struct coder_io *io)
{
    struct encoder *e = (struct encoder *)coder;
    size_t n =
        e->gzip ? libdeflate_gzip_compress(e->compressor, io->in, io->in_len, io->out, io->out_len)
                : libdeflate_zlib_compress(e->compressor, io->in, io->in_len, io->out, io->out_len);

    if (!n)
        return TERSE_MORE;
    io->in += io->in_len;
    io->in_len = 0;
    io->out += n;
    io->out_len -= n;
    return TERSE_END;
}

/* The library does not tell; these are measured. */
static uint64_t level_bytes(uint64_t level)
{
    if (level == 1)
        return 200 * 1024;
    return level < 10 ? 670 * 1024 : 9 * 1024 * 1024;
}

static uint64_t encoder_bytes(const struct coder *coder)
{
    return level_bytes(coder->key);
}

static uint64_t encoder_need(const struct coder_want *want)
{
    return level_bytes(encoder_key(want)) + blocks_cost(sizeof(struct encoder));
}

static bool encoder_cheaper(struct coder_want *want)
{
    if (want->level <= 1)
        return false;
    want->level = 1;
    return true;
}

static void encoder_drop(struct blocks *blocks, struct coder *coder)
{
    struct encoder *e = (struct encoder *)coder;

    libdeflate_free_compressor(e->compressor);
    blocks_give(blocks, e);
}

const struct coder_kind coder_libdeflate_encoder = {
    .kept = true,
    .key = encoder_key,
    .make = encoder_make,
    .start = encoder_start,
    .whole = encoder_whole,
    .bytes = encoder_bytes,
    .need = encoder_need,
    .cheaper = encoder_cheaper,
    .drop = encoder_drop,
};
