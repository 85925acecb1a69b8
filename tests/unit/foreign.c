/* SPDX-License-Identifier: MIT */
/* The codec libraries used directly: an independent check of what the plugin makes of them. */
#include "bodies.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

#define ROOM 32768

struct foreign {
    int coding;
    bool frames;
    bool ended;
    bool trailing;
#if HAVE_ZLIB
    z_stream z;
#endif
#if HAVE_BROTLI
    BrotliDecoderState *br;
#endif
#if HAVE_ZSTD
    ZSTD_DCtx *zstd;
#endif
};

struct foreign *foreign_new(int coding)
{
    struct foreign *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->coding = coding;
#if HAVE_ZLIB
    if (coding == CODING_GZIP || coding == CODING_DEFLATE)
        assert_int_equal(inflateInit2(&f->z, coding == CODING_GZIP ? 31 : 15), Z_OK);
#endif
#if HAVE_BROTLI
    if (coding == CODING_BR)
        assert_non_null(f->br = BrotliDecoderCreateInstance(NULL, NULL, NULL));
#endif
#if HAVE_ZSTD
    if (coding == CODING_ZSTD)
        assert_non_null(f->zstd = ZSTD_createDCtx());
#endif
    return f;
}

void foreign_expect_frames(struct foreign *f)
{
    f->frames = f->coding == CODING_ZSTD;
}

void foreign_free(struct foreign *f)
{
#if HAVE_ZLIB
    if (f->coding == CODING_GZIP || f->coding == CODING_DEFLATE)
        inflateEnd(&f->z);
#endif
#if HAVE_BROTLI
    BrotliDecoderDestroyInstance(f->br);
#endif
#if HAVE_ZSTD
    ZSTD_freeDCtx(f->zstd);
#endif
    free(f);
}

#if HAVE_ZLIB
static bool feed_zlib(struct foreign *f, const void *ptr, size_t len, struct sink *sink)
{
    uint8_t room[ROOM];
    int status = Z_OK;

    f->z.next_in = (Bytef *)(uintptr_t)ptr;
    f->z.avail_in = (uInt)len;
    do {
        f->z.next_out = room;
        f->z.avail_out = ROOM;
        status = inflate(&f->z, Z_SYNC_FLUSH);
        sink_add(sink, room, ROOM - f->z.avail_out);
    } while (status == Z_OK && !f->z.avail_out);
    f->ended = status == Z_STREAM_END;
    f->trailing = f->ended && f->z.avail_in;
    return status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END;
}
#endif

#if HAVE_BROTLI
static bool feed_brotli(struct foreign *f, const void *ptr, size_t len, struct sink *sink)
{
    const uint8_t *in = ptr;
    BrotliDecoderResult result;
    uint8_t room[ROOM];

    do {
        uint8_t *out = room;
        size_t left = ROOM;

        result = BrotliDecoderDecompressStream(f->br, &len, &in, &left, &out, NULL);
        sink_add(sink, room, ROOM - left);
    } while (BrotliDecoderHasMoreOutput(f->br) ||
             result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
    f->ended = result == BROTLI_DECODER_RESULT_SUCCESS;
    f->trailing = f->ended && len;
    return result != BROTLI_DECODER_RESULT_ERROR;
}
#endif

#if HAVE_ZSTD
static bool feed_zstd(struct foreign *f, const void *ptr, size_t len, struct sink *sink)
{
    ZSTD_inBuffer in = {ptr, len, 0};
    uint8_t room[ROOM];
    ZSTD_outBuffer out = {room, ROOM, 0};

    do {
        size_t left;

        out.pos = 0;
        left = ZSTD_decompressStream(f->zstd, &out, &in);
        if (ZSTD_isError(left))
            return false;
        sink_add(sink, room, out.pos);
        f->ended = !left;
    } while ((in.pos < in.size || out.pos == ROOM) &&
             (!f->ended || (f->frames && in.pos < in.size)));
    f->trailing = f->ended && in.pos < in.size;
    return true;
}
#endif

bool foreign_feed(struct foreign *f, const void *ptr, size_t len, struct sink *sink)
{
    if (!len)
        return true;
    if (f->ended && !f->frames) {
        f->trailing = true;
        return true;
    }
#if HAVE_ZLIB
    if (f->coding == CODING_GZIP || f->coding == CODING_DEFLATE)
        return feed_zlib(f, ptr, len, sink);
#endif
#if HAVE_BROTLI
    if (f->coding == CODING_BR)
        return feed_brotli(f, ptr, len, sink);
#endif
#if HAVE_ZSTD
    if (f->coding == CODING_ZSTD)
        return feed_zstd(f, ptr, len, sink);
#endif
    return false;
}

bool foreign_complete(const struct foreign *f)
{
    return f->ended && !f->trailing;
}

void assert_decodes(int coding, const struct sink *coded, const void *expected, size_t len)
{
    struct foreign *f = foreign_new(coding);
    struct sink plain = {0};

    assert_true(foreign_feed(f, coded->ptr, coded->len, &plain));
    assert_true(foreign_complete(f));
    assert_bytes(&plain, expected, len);
    sink_free(&plain);
    foreign_free(f);
}

#if HAVE_ZLIB
static void encode_zlib(int window, const void *ptr, size_t len, struct sink *sink)
{
    z_stream z = {0};
    size_t room = len + len / 100 + 1024;
    uint8_t *to = malloc(room);

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)ptr;
    z.avail_in = (uInt)len;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    sink_add(sink, to, z.total_out);
    deflateEnd(&z);
    free(to);
}
#endif

void foreign_encode(int coding, const void *ptr, size_t len, struct sink *sink)
{
    size_t room = len + len / 2 + 1024;
    uint8_t *to = malloc(room);

#if HAVE_ZLIB
    if (coding == CODING_GZIP || coding == CODING_DEFLATE)
        encode_zlib(coding == CODING_GZIP ? 31 : 15, ptr, len, sink);
#endif
#if HAVE_BROTLI
    if (coding == CODING_BR) {
        assert_true(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, len, ptr, &room, to));
        sink_add(sink, to, room);
    }
#endif
#if HAVE_ZSTD
    if (coding == CODING_ZSTD) {
        room = ZSTD_compress(to, room, ptr, len, 3);
        assert_false(ZSTD_isError(room));
        sink_add(sink, to, room);
    }
#endif
    free(to);
}
