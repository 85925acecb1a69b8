/* SPDX-License-Identifier: MIT */
#include "bombs.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#define ZEROS_LEN ((size_t)10 << 20)
#define TIMES 100
#define EMPTY_LEN ((size_t)2 << 20)

static const uint8_t *zeros(void)
{
    static uint8_t *bytes;

    if (!bytes)
        bytes = calloc(1, ZEROS_LEN);
    assert_non_null(bytes);
    return bytes;
}

static void repeat(struct sink *to, const void *ptr, size_t len, size_t times)
{
    while (times--)
        sink_add(to, ptr, len);
}

/* ---- ten megabytes of zeros, a hundred times over -------------------------------------------- */

/* One stream: what follows a full flush can be there any number of times. */
static void of_deflate(struct sink *to, int bits)
{
    z_stream z = {0};
    struct sink once = {malloc(ZEROS_LEN / 100), 0, ZEROS_LEN / 100};

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (int i = 0; i < 2; i++) {
        z.next_in = (Bytef *)(uintptr_t)zeros();
        z.avail_in = ZEROS_LEN;
        z.next_out = once.ptr;
        z.avail_out = (uInt)once.cap;
        assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
        repeat(to, once.ptr, once.cap - z.avail_out, i ? TIMES - 1 : 1);
    }
    deflateEnd(&z);
    sink_free(&once);
}

static void gzip_stream(struct sink *to)
{
    of_deflate(to, 31);
}

static void deflate_stream(struct sink *to)
{
    of_deflate(to, 15);
}

static void raw_stream(struct sink *to)
{
    of_deflate(to, -15);
}

static void members(struct sink *to, int coding)
{
    struct sink once = {0};

    foreign_encode(coding, zeros(), ZEROS_LEN, &once);
    repeat(to, once.ptr, once.len, TIMES);
    sink_free(&once);
}

static void gzip_members(struct sink *to)
{
    members(to, CODING_GZIP);
}

static void zstd_frames(struct sink *to)
{
    members(to, CODING_ZSTD);
}

/* What a flush ends can be there any number of times as well. */
static void of_brotli(struct sink *to, uint32_t window)
{
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    struct sink once = {malloc(ZEROS_LEN / 100), 0, ZEROS_LEN / 100};

    assert_true(BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, 5) &&
                BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, window));
    for (int i = 0; i < 2; i++) {
        size_t in_len = ZEROS_LEN, left = once.cap;
        const uint8_t *in = zeros();
        uint8_t *out = once.ptr;

        assert_true(BrotliEncoderCompressStream(state, BROTLI_OPERATION_FLUSH, &in_len, &in, &left,
                                                &out, NULL));
        assert_true(!in_len && left);
        repeat(to, once.ptr, once.cap - left, i ? TIMES - 1 : 1);
    }
    BrotliEncoderDestroyInstance(state);
    sink_free(&once);
}

static void brotli_stream(struct sink *to)
{
    of_brotli(to, 22);
}

static void brotli_widest(struct sink *to)
{
    of_brotli(to, 24);
}

static void zstd_widest(struct sink *to)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    struct sink once = {malloc(ZEROS_LEN), 0, ZEROS_LEN};

    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 23)));
    for (int i = 0; i < 2; i++) {
        ZSTD_inBuffer in = {zeros(), ZEROS_LEN, 0};
        ZSTD_outBuffer out = {once.ptr, once.cap, 0};

        assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
        repeat(to, once.ptr, out.pos, i ? TIMES - 1 : 1);
    }
    ZSTD_freeCCtx(context);
    sink_free(&once);
}

static void over(struct sink *to, void (*make)(struct sink *), int coding)
{
    struct sink inner = {0};

    make(&inner);
    foreign_encode(coding, inner.ptr, inner.len, to);
    sink_free(&inner);
}

static void gzip_br(struct sink *to)
{
    over(to, gzip_members, CODING_BR);
}

static void zstd_gzip(struct sink *to)
{
    over(to, zstd_frames, CODING_GZIP);
}

static void gzip_br_zstd(struct sink *to)
{
    over(to, gzip_br, CODING_ZSTD);
}

static void gzip_zstd_br(struct sink *to)
{
    struct sink inner = {0};

    over(&inner, gzip_stream, CODING_ZSTD);
    foreign_encode(CODING_BR, inner.ptr, inner.len, to);
    sink_free(&inner);
}

/* ---- nothing, for ever ----------------------------------------------------------------------- */

/* As long as the server lets a body be. */
static void nothing(struct sink *to, const char *head, size_t head_len, const char *each,
                    size_t each_len)
{
    sink_add(to, head, head_len);
    repeat(to, each, each_len, EMPTY_LEN / each_len);
}

/* Empty stored blocks, as a sync flush writes them (RFC 1951 section 3.2.4). */
static void deflate_flushes(struct sink *to)
{
    nothing(to, "\x78\x9c", 2, "\0\0\0\xff\xff", 5);
}

static void raw_flushes(struct sink *to)
{
    nothing(to, "", 0, "\0\0\0\xff\xff", 5);
}

static void gzip_flushes(struct sink *to)
{
    nothing(to, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10, "\0\0\0\xff\xff", 5);
}

/* Each block has codes of its own, which have to be read and built for a few bytes. */
static void deflate_tables(struct sink *to)
{
    struct sink once = {0};
    z_stream z = {0};
    uint8_t text[400], room[1000];

    body_fill(NOISE, text, sizeof text);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_HUFFMAN_ONLY), Z_OK);
    z.next_in = text;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] &= (uint8_t)(text[i] >> 3);
    z.avail_in = 90;
    z.next_out = room;
    z.avail_out = sizeof room;
    assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
    sink_add(&once, room, sizeof room - z.avail_out);
    deflateEnd(&z);
    nothing(to, "\x78\x9c", 2, (const char *)once.ptr, once.len);
    sink_free(&once);
}

static void gzip_empty_members(struct sink *to)
{
    struct sink once = {0};

    foreign_encode(CODING_GZIP, "", 0, &once);
    nothing(to, "", 0, (const char *)once.ptr, once.len);
    sink_free(&once);
}

/* Meta-blocks that hold metadata of no length (RFC 7932 section 9.2), a byte each. */
static void brotli_metadata(struct sink *to)
{
    nothing(to, "\x0c", 1, "\x06", 1);
}

static void zstd_empty_frames(struct sink *to)
{
    nothing(to, "", 0, "\x28\xb5\x2f\xfd\x20\0\1\0\0", 9);
}

static void zstd_empty_wide_frames(struct sink *to)
{
    nothing(to, "", 0, "\x28\xb5\x2f\xfd\0\x68\1\0\0", 9); /* of 8 MB */
}

static void zstd_skippable_frames(struct sink *to)
{
    nothing(to, "", 0, "\x50\x2a\x4d\x18\0\0\0\0", 8);
}

static void zstd_empty_blocks(struct sink *to)
{
    nothing(to, "\x28\xb5\x2f\xfd\0\x58", 6, "\0\0\0", 3);
}

static void empty_in_empty(struct sink *to)
{
    over(to, gzip_empty_members, CODING_ZSTD);
}

const struct bomb bombs[] = {
    {"gzip", "gzip", gzip_stream, BOMB_LARGE},
    {"gzip members", "gzip", gzip_members, BOMB_LARGE},
    {"deflate", "deflate", deflate_stream, BOMB_LARGE},
    {"raw deflate", "deflate", raw_stream, BOMB_LARGE},
    {"br", "br", brotli_stream, BOMB_LARGE},
    {"br, widest window", "br", brotli_widest, BOMB_LARGE},
    {"zstd frames", "zstd", zstd_frames, BOMB_LARGE},
    {"zstd, widest window", "zstd", zstd_widest, BOMB_LARGE},
    {"gzip, br", "gzip, br", gzip_br, BOMB_LARGE},
    {"zstd, gzip", "zstd, gzip", zstd_gzip, BOMB_LARGE},
    {"gzip, br, zstd", "gzip, br, zstd", gzip_br_zstd, BOMB_LARGE},
    {"gzip, zstd, br", "gzip, zstd, br", gzip_zstd_br, BOMB_LARGE},
    {"deflate flushes", "deflate", deflate_flushes, BOMB_EMPTY},
    {"raw deflate flushes", "deflate", raw_flushes, BOMB_EMPTY},
    {"gzip flushes", "gzip", gzip_flushes, BOMB_EMPTY},
    {"deflate tables", "deflate", deflate_tables, BOMB_ODD},
    {"gzip empty members", "gzip", gzip_empty_members, BOMB_EMPTY},
    {"br metadata", "br", brotli_metadata, BOMB_EMPTY},
    {"zstd empty frames", "zstd", zstd_empty_frames, BOMB_EMPTY},
    {"zstd empty frames, wide", "zstd", zstd_empty_wide_frames, BOMB_EMPTY},
    {"zstd skippable frames", "zstd", zstd_skippable_frames, BOMB_EMPTY},
    {"zstd empty blocks", "zstd", zstd_empty_blocks, BOMB_EMPTY},
    {"gzip empty members in zstd", "gzip, zstd", empty_in_empty, BOMB_EMPTY},
    {NULL, NULL, NULL, BOMB_LARGE},
};
