/* SPDX-License-Identifier: MIT */
/* What zlib's encoder and decoder share. */
#ifndef TERSE_CODEC_ZLIB_H
#define TERSE_CODEC_ZLIB_H

#include <string.h>
#include <zlib.h>

#include "blocks.h"

/* zlib's lengths are 32 bit: longer input and output go by in slices. */
#define SLICE ((size_t)1 << 30)
#define GZIP_WRAP 16

static inline uInt slice_of(size_t len)
{
    return (uInt)(len < SLICE ? len : SLICE);
}

/* zlib's state comes from the pool's blocks, and returns there when a coder is dropped. */
static inline voidpf zlib_take(voidpf opaque, uInt items, uInt size)
{
    return blocks_take(opaque, (size_t)items * size);
}

static inline void zlib_give(voidpf opaque, voidpf ptr)
{
    blocks_give(opaque, ptr);
}

static inline void zlib_memory(z_stream *z, struct blocks *blocks)
{
    memset(z, 0, sizeof *z);
    z->zalloc = zlib_take;
    z->zfree = zlib_give;
    z->opaque = blocks;
}

#endif
