/* SPDX-License-Identifier: MIT */
/* Decoders, fed with what other encoders make, and with what nobody should. */
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

static const struct cut cuts[] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}, {7, 3}, {13, 64}, {1000, 999}};
#define N_CUTS (sizeof cuts / sizeof cuts[0])

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

static terse_status decode(struct rig *rig, int coding, const void *ptr, size_t len, struct cut cut,
                           struct sink *plain)
{
    terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, coding, -1);
    terse_status status;

    plain->len = 0;
    status = pump(stream, TERSE_FINISH, ptr, len, cut, plain);
    rig->api->stream_free(stream);
    return status;
}

/* The pool's one decoder still decodes. */
static void assert_sound(struct rig *rig, int coding)
{
    static const char text[] = "a body that is right";
    struct sink coded = {0}, plain = {0};

    foreign_encode(coding, text, sizeof text, &coded);
    assert_int_equal(decode(rig, coding, coded.ptr, coded.len, cuts[0], &plain), TERSE_END);
    assert_bytes(&plain, text, sizeof text);
    sink_free(&coded);
    sink_free(&plain);
}

static void assert_refused(struct rig *rig, int coding, const void *ptr, size_t len)
{
    struct sink plain = {0};

    for (size_t k = 0; k < N_CUTS; k++)
        assert_int_equal(decode(rig, coding, ptr, len, cuts[k], &plain), TERSE_E_DATA);
    assert_sound(rig, coding);
    sink_free(&plain);
}

static void assert_decoded(struct rig *rig, int coding, const struct sink *coded,
                           const void *expected, size_t len)
{
    struct sink plain = {0};

    for (size_t k = 0; k < N_CUTS; k++) {
        assert_int_equal(decode(rig, coding, coded->ptr, coded->len, cuts[k], &plain), TERSE_END);
        assert_bytes(&plain, expected, len);
    }
    sink_free(&plain);
}

static void other_encoders(void **state)
{
    static const size_t lengths[] = {1, 2, 300, 4095, 65536};
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (enum body kind = TEXT; kind <= ZEROS; kind++) {
                uint8_t *body = body_new(kind, lengths[i]);
                struct sink coded = {0};

                foreign_encode(*c, body, lengths[i], &coded);
                assert_decoded(rig, *c, &coded, body, lengths[i]);
                sink_free(&coded);
                free(body);
            }
}

/* All output that the input allows has been given when RUN says OK, and FINISH needs no room. */
static void output_is_not_held_back(void **state)
{
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 200000);

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        struct sink coded = {0}, plain = {0};
        terse_in in = {NULL, 0, 0};
        terse_out out = {NULL, 0, 0};

        foreign_encode(*c, body, 200000, &coded);
        assert_int_equal(
            pump(stream, TERSE_RUN, coded.ptr, coded.len, (struct cut){0, 777}, &plain), TERSE_OK);
        assert_bytes(&plain, body, 200000);
        assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL), TERSE_END);
        in = (terse_in){body, 100, 0};
        assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &out, NULL), TERSE_END);
        assert_int_equal(in.pos, 0);
        rig->api->stream_free(stream);
        sink_free(&coded);
        sink_free(&plain);
    }
    free(body);
}

static void no_room_is_no_error(void **state)
{
    struct rig *rig = *state;
    struct sink coded = {0};
    uint8_t room[600], body[500];

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        terse_in in;
        terse_out out = {room, 0, 0};

        coded.len = 0;
        foreign_encode(*c, body, sizeof body, &coded);
        in = (terse_in){coded.ptr, coded.len, 0};
        for (int i = 0; i < 100; i++)
            assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL),
                             TERSE_MORE);
        out.len = sizeof room;
        for (int i = 0; i < 100; i++) {
            terse_in none = {NULL, 0, 0};

            if (in.pos == in.len)
                assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &none, &out, NULL),
                                 TERSE_OK);
        }
        assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL), TERSE_END);
        assert_int_equal(out.pos, sizeof body);
        assert_memory_equal(room, body, sizeof body);
        rig->api->stream_free(stream);
    }
    sink_free(&coded);
}

/* ---- bodies that are not right ----------------------------------------------------------------
 */

static void cut_short_at_each_byte(void **state)
{
    struct rig *rig = *state;
    uint8_t body[700];
    struct sink coded = {0};

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        coded.len = 0;
        foreign_encode(*c, body, sizeof body, &coded);
        for (size_t n = 0; n < coded.len; n++)
            assert_refused(rig, *c, coded.ptr, n);
    }
    sink_free(&coded);
}

static void trailing_bytes(void **state)
{
    static const char *const tails[] = {"\0", "A", "\n", "\x1f", "\x1f\x8b", "\x28", "trailing"};
    struct rig *rig = *state;
    uint8_t body[700];

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
            struct sink coded = {0};

            foreign_encode(*c, body, sizeof body, &coded);
            sink_add(&coded, tails[i], i ? strlen(tails[i]) : 1);
            assert_refused(rig, *c, coded.ptr, coded.len);
            sink_free(&coded);
        }
}

/* One bit changed: an error, or where the format has no checksum another body, and never the end
 * of a body that a checksum covers.  Each case ends. */
static void flipped_bits(void **state)
{
    struct rig *rig = *state;
    uint8_t body[400];
    struct sink coded = {0}, plain = {0};

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        coded.len = 0;
        foreign_encode(*c, body, sizeof body, &coded);
        for (size_t bit = 0; bit < coded.len * 8; bit++) {
            terse_status status;

            coded.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
            status = decode(rig, *c, coded.ptr, coded.len, cuts[bit % N_CUTS], &plain);
            assert_true(status == TERSE_END || status == TERSE_E_DATA);
            if (status == TERSE_END && (*c == CODING_GZIP || *c == CODING_DEFLATE))
                assert_bytes(&plain, body, sizeof body);
            coded.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_sound(rig, *c);
    }
    sink_free(&coded);
    sink_free(&plain);
}

static void not_in_its_coding(void **state)
{
    struct rig *rig = *state;
    char text[] = "? is how this text starts, and it goes on for a while in plain words.\n";

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        for (char first = ' '; first <= '~'; first++) {
            text[0] = first;
            assert_refused(rig, *c, text, sizeof text - 1);
        }
        for (const int *other = codings(); *other != CODING_NONE; other++) {
            struct sink coded = {0};

            foreign_encode(*other, text, sizeof text, &coded);
            if (*other != *c)
                assert_refused(rig, *c, coded.ptr, coded.len);
            sink_free(&coded);
        }
    }
}

/* An error stays one, and the decoder is the pool's again afterwards. */
static void errors_stay(void **state)
{
    struct rig *rig = *state;
    uint8_t room[100];

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);

        for (int i = 0; i < 3; i++) {
            terse_in in = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10, 0};
            terse_out out = {room, sizeof room, 0};

            assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL),
                             TERSE_E_DATA);
            if (i)
                assert_int_equal(in.pos, 0);
        }
        rig->api->stream_free(stream);
        assert_sound(rig, *c);
    }
}

/* 10 MB of zeros: no call gives more than there is room for, nor takes long to say so. */
static void bomb(void **state)
{
    struct rig *rig = *state;
    size_t len = 10 << 20;
    uint8_t *body = body_new(ZEROS, len), room[1000];

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        struct sink coded = {0};
        size_t given = 0, calls = 0;
        terse_status status;
        terse_in in;

        foreign_encode(*c, body, len, &coded);
        in = (terse_in){coded.ptr, coded.len, 0};
        do {
            terse_out out = {room, sizeof room, 0};

            status = rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
            given += out.pos;
            calls++;
        } while (status == TERSE_MORE);
        assert_int_equal(status, TERSE_END);
        assert_int_equal(given, len);
        assert_true(calls >= len / sizeof room && calls <= len / sizeof room + 200);
        rig->api->stream_free(stream);
        sink_free(&coded);
    }
    free(body);
}

/* ---- formats ----------------------------------------------------------------------------------
 */

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

/* The formats before RFC 8878, which the library may still read. */
static void zstd_old_formats(void **state)
{
    for (uint8_t first = 0x1e; first < 0x28; first++) {
        uint8_t frame[40] = {first, 0xb5, 0x2f, 0xfd};

        assert_refused(*state, CODING_ZSTD, frame, sizeof frame);
    }
}
#endif

static void empty_bodies(void **state)
{
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink coded = {0};

        foreign_encode(*c, "", 0, &coded);
        assert_decoded(*state, *c, &coded, "", 0);
        assert_refused(*state, *c, "", 0); /* nothing at all is in no coding */
        if (*c == CODING_BR)
            for (int i = 0; i < 2; i++) { /* RFC 7932 section 9.1: empty in one byte */
                coded.len = 0;
                sink_add(&coded, i ? "\x06" : "\x3b", 1);
                assert_decoded(*state, *c, &coded, "", 0);
            }
        sink_free(&coded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_encoders),
        cmocka_unit_test(output_is_not_held_back),
        cmocka_unit_test(no_room_is_no_error),
        cmocka_unit_test(cut_short_at_each_byte),
        cmocka_unit_test(trailing_bytes),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(not_in_its_coding),
        cmocka_unit_test(errors_stay),
        cmocka_unit_test(bomb),
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
        cmocka_unit_test(empty_bodies),
    };

    return cmocka_run_group_tests(tests, up, down);
}
