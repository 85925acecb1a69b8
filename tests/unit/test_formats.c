/* SPDX-License-Identifier: MIT */
/* What is special to each format: members, frames, windows, headers, checksums. */
#include "bodies.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_BROTLI
#include <brotli/encode.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

static int up(void **state)
{
    static struct rig rig;

    rig_up(&rig, NULL);
    *state = &rig;
    return 0;
}

static int down(void **state)
{
    struct rig *rig = *state;

    assert_int_equal(counter(rig, "streams.live"), 0);
    rig_down(rig);
    return 0;
}

#if HAVE_ZLIB
static void gzip_members(void **state)
{
    struct rig *rig = *state;
    struct sink coded = {0};

    foreign_encode(CODING_GZIP, "one, ", 5, &coded);
    foreign_encode(CODING_GZIP, "", 0, &coded);
    foreign_encode(CODING_GZIP, "two", 3, &coded);
    assert_decoded(rig, CODING_GZIP, &coded, "one, two", 8);
    coded.len--; /* the last member's length */
    assert_refused(rig, CODING_GZIP, coded.ptr, coded.len);
    coded.len = 0;
    foreign_encode(CODING_DEFLATE, "one", 3, &coded);
    foreign_encode(CODING_DEFLATE, "two", 3, &coded); /* the zlib format has no members */
    assert_refused(rig, CODING_DEFLATE, coded.ptr, coded.len);
    sink_free(&coded);
}

/* Name, comment, extra field and header checksum (RFC 1952 section 2.3.1). */
static void gzip_header_fields(void **state)
{
    struct rig *rig = *state;
    z_stream z = {0};
    gz_header header = {0};
    uint8_t room[500];
    struct sink coded = {0};

    header.time = 12345;
    header.name = (Bytef *)(uintptr_t) "index.html";
    header.comment = (Bytef *)(uintptr_t) "a comment";
    header.extra = (Bytef *)(uintptr_t) "extra";
    header.extra_len = 5;
    header.hcrc = 1;
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    z.next_in = (Bytef *)(uintptr_t) "the body";
    z.avail_in = 8;
    z.next_out = room;
    z.avail_out = sizeof room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    sink_add(&coded, room, z.total_out);
    deflateEnd(&z);
    assert_decoded(rig, CODING_GZIP, &coded, "the body", 8);
    room[20] ^= 1; /* the name is under the header's checksum */
    assert_refused(rig, CODING_GZIP, room, coded.len);
    sink_free(&coded);
}

static void checksums_of_zlib(void **state)
{
    struct rig *rig = *state;
    static const int codings_of_zlib[] = {CODING_GZIP, CODING_DEFLATE};

    for (int i = 0; i < 2; i++)
        for (size_t back = 1; back <= (i ? 4 : 8); back++) {
            struct sink coded = {0};

            foreign_encode(codings_of_zlib[i], "the body", 8, &coded);
            coded.ptr[coded.len - back] ^= 0x10; /* CRC and length, or Adler-32 */
            assert_refused(rig, codings_of_zlib[i], coded.ptr, coded.len);
            sink_free(&coded);
        }
}

static void zlib_dictionary_is_refused(void **state)
{
    z_stream z = {0};
    uint8_t room[200];

    assert_int_equal(deflateInit(&z, 9), Z_OK);
    assert_int_equal(deflateSetDictionary(&z, (const Bytef *)"dictionary", 10), Z_OK);
    z.next_in = (Bytef *)(uintptr_t) "dictionary";
    z.avail_in = 10;
    z.next_out = room;
    z.avail_out = sizeof room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_refused(*state, CODING_DEFLATE, room, z.total_out);
    deflateEnd(&z);
}
#endif

#if HAVE_BROTLI
static void brotli_encode(uint32_t window, bool large, const void *ptr, size_t len,
                          struct sink *coded)
{
    BrotliEncoderState *e = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = ptr;
    uint8_t room[4000], *out = room;
    size_t left = sizeof room;

    BrotliEncoderSetParameter(e, BROTLI_PARAM_LARGE_WINDOW, large);
    BrotliEncoderSetParameter(e, BROTLI_PARAM_LGWIN, window);
    assert_true(
        BrotliEncoderCompressStream(e, BROTLI_OPERATION_FINISH, &len, &in, &left, &out, NULL));
    assert_true(BrotliEncoderIsFinished(e));
    sink_add(coded, room, sizeof room - left);
    BrotliEncoderDestroyInstance(e);
}

static void brotli_windows(void **state)
{
    uint8_t body[3000];

    body_fill(TEXT, body, sizeof body);
    for (uint32_t window = 10; window <= 24; window++) {
        struct sink coded = {0};

        brotli_encode(window, false, body, sizeof body, &coded);
        assert_decoded(*state, CODING_BR, &coded, body, sizeof body);
        coded.len = 0;
        brotli_encode(window, true, body, sizeof body, &coded); /* not the format of RFC 7932 */
        assert_refused(*state, CODING_BR, coded.ptr, coded.len);
        sink_free(&coded);
    }
}
#endif

#if HAVE_ZSTD
static void zstd_encode(int window, int checksum, int size, const void *ptr, size_t len,
                        struct sink *coded)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    uint8_t room[8000];
    ZSTD_inBuffer in = {ptr, len, 0};
    ZSTD_outBuffer out = {room, sizeof room, 0};

    ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
    ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, size);
    if (size)
        ZSTD_CCtx_setPledgedSrcSize(c, len);
    else /* two steps, or the size is known again */
        assert_false(ZSTD_isError(ZSTD_compressStream2(c, &out, &in, ZSTD_e_continue)));
    assert_int_equal(ZSTD_compressStream2(c, &out, &in, ZSTD_e_end), 0);
    sink_add(coded, room, out.pos);
    ZSTD_freeCCtx(c);
}

static void zstd_frames(void **state)
{
    static const uint8_t skippable[] = {0x57, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};
    uint8_t body[3000], twice[6000];
    struct sink coded = {0};

    body_fill(TEXT, body, sizeof body);
    memcpy(twice, body, sizeof body);
    memcpy(twice + sizeof body, body, sizeof body);
    for (int flags = 0; flags < 4; flags++) {
        coded.len = 0;
        zstd_encode(0, flags & 1, flags >> 1, body, sizeof body, &coded);
        assert_decoded(*state, CODING_ZSTD, &coded, body, sizeof body);
        if (flags & 1) {
            coded.ptr[coded.len - 1] ^= 1;
            assert_refused(*state, CODING_ZSTD, coded.ptr, coded.len);
            coded.ptr[coded.len - 1] ^= 1;
        }
        sink_add(&coded, skippable, sizeof skippable);
        zstd_encode(0, !(flags & 1), flags >> 1, body, sizeof body, &coded);
        assert_decoded(*state, CODING_ZSTD, &coded, twice, sizeof twice);
    }
    sink_free(&coded);
}

static void zstd_windows(void **state)
{
    uint8_t body[3000];

    body_fill(TEXT, body, sizeof body);
    for (int window = 10; window <= 27; window += window < 22 ? 4 : 1) {
        struct sink coded = {0};

        zstd_encode(window, 0, 0, body, sizeof body, &coded);
        if (window <= 23) /* RFC 9659 */
            assert_decoded(*state, CODING_ZSTD, &coded, body, sizeof body);
        else
            assert_refused(*state, CODING_ZSTD, coded.ptr, coded.len);
        sink_free(&coded);
    }
}

/* The formats before RFC 8878, which the library may still read: refused before it looks. */
static void zstd_old_formats(void **state)
{
    struct rig *rig = *state;

    for (uint8_t first = 0x1e; first < 0x28; first++) {
        uint8_t frame[40] = {first, 0xb5, 0x2f, 0xfd};
        terse_stream *stream = open_stream(*state, rig->policy, TERSE_DECODE, CODING_ZSTD, -1);
        struct sink plain = {0};

        assert_int_equal(pump(stream, TERSE_RUN, frame, 6, cuts[0], &plain), TERSE_E_DATA);
        rig->api->stream_free(stream);
        assert_refused(*state, CODING_ZSTD, frame, sizeof frame);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if HAVE_ZLIB
        cmocka_unit_test(gzip_members),
        cmocka_unit_test(gzip_header_fields),
        cmocka_unit_test(checksums_of_zlib),
        cmocka_unit_test(zlib_dictionary_is_refused),
#endif
#if HAVE_BROTLI
        cmocka_unit_test(brotli_windows),
#endif
#if HAVE_ZSTD
        cmocka_unit_test(zstd_frames),
        cmocka_unit_test(zstd_windows),
        cmocka_unit_test(zstd_old_formats),
#endif
    };

    return cmocka_run_group_tests(tests, up, down);
}
