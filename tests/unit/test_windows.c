/* SPDX-License-Identifier: MIT */
/* What coded bytes say of themselves: headers and windows. */
#include "bodies.h"

#include "codec.h"
#include "policy.h"

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
static void gzip_header_has_no_time(void **state)
{
    static const uint8_t start[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0}; /* RFC 1952 section 2.3 */
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 20000);
    struct sink coded = {0};

    code_stream(rig, rig->policy, CODING_GZIP, -1, body, 20000, (struct cut){0, 0}, &coded);
    assert_true(coded.len > sizeof start);
    assert_memory_equal(coded.ptr, start, sizeof start);
    sink_free(&coded);
    free(body);
}

/* The zlib header has the window's size (RFC 1950 section 2.2). */
static void zlib_window_fits(void **state)
{
    static const struct {
        int64_t length;
        int window;
    } cases[] = {{1, 10},     {762, 10},   {763, 12},    {3834, 12}, {3835, 14},
                 {16122, 14}, {16123, 15}, {999999, 15}, {-1, 15}};
    struct rig *rig = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sink coded = {0};

        code_stream(rig, rig->policy, CODING_DEFLATE, cases[i].length, "terse", 5,
                    (struct cut){0, 0}, &coded);
        assert_int_equal((coded.ptr[0] >> 4) + 8, cases[i].window);
        assert_int_equal((coded.ptr[0] * 256 + coded.ptr[1]) % 31, 0);
        sink_free(&coded);
    }
}
#endif

#if HAVE_ZSTD
/* The window that a frame's header declares, in bytes (RFC 8878 section 3.1.1.1). */
static uint64_t zstd_window(const struct sink *coded)
{
    const uint8_t *h = coded->ptr;
    unsigned flag = h[4] >> 6;
    bool single = h[4] >> 5 & 1;
    uint64_t size = 0;

    assert_true(coded->len > 14);
    if (!single)
        return (UINT64_C(1) << (10 + (h[5] >> 3))) / 8 * (8 + (h[5] & 7));
    for (unsigned i = 0; i < (flag ? 1u << flag : 1); i++)
        size |= (uint64_t)h[5 + i] << (8 * i);
    return size + (flag == 1 ? 256 : 0);
}

static void zstd_window_is_bounded(void **state)
{
    static const int64_t said[] = {4000, -1, 1, 300000, 9 << 20, INT64_MAX};
    struct rig *rig = *state;
    uint8_t body[2000];

    body_fill(NOISE, body, sizeof body);
    for (int level = -7; level <= 19; level++) {
        terse_policy *policy = policy_of_level(rig, CODING_ZSTD, level);

        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
            struct sink coded = {0};

            if (level_is_heavy(CODING_ZSTD, level) && i > (level % 3 == 1))
                break; /* 4,000 at each level, "not known" at 10, 13, 16 and 19 */
            code_stream(rig, policy, CODING_ZSTD, said[i], body, sizeof body, (struct cut){500, 0},
                        &coded);
            assert_decodes(CODING_ZSTD, &coded, body, sizeof body);
            assert_true(zstd_window(&coded) <= 8 << 20); /* RFC 9659 section 3 */
            if (said[i] == 4000)
                assert_int_equal(zstd_window(&coded), 4096);
            sink_free(&coded);
        }
        rig->api->policy_unref(policy);
    }
}

/* What was taken has left after each 64 KB, unless the eight blocks before were easy: then after
 * 128 KB. */
static void zstd_blocks_are_short(void **state)
{
    static const struct {
        enum body body;
        size_t ninth;
    } cases[] = {{NOISE, 65536}, {TEXT, 65536}, {ZEROS, 131072}};
    struct rig *rig = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, CODING_ZSTD, -1);
        uint8_t *body = body_new(cases[i].body, 1 << 20);
        struct foreign *f = foreign_new(CODING_ZSTD);
        struct sink coded = {0}, plain = {0};

        for (size_t k = 0, taken = 0; k < 9; k++) {
            size_t len = k < 8 ? 65536 : cases[i].ninth, fed = coded.len;

            pump(stream, TERSE_RUN, body + taken, len - 1, (struct cut){4096, 0}, &coded);
            assert_true(foreign_feed(f, coded.ptr + fed, coded.len - fed, &plain));
            assert_bytes(&plain, body, taken);
            fed = coded.len;
            pump(stream, TERSE_RUN, body + taken + len - 1, 1, (struct cut){0, 7}, &coded);
            assert_true(foreign_feed(f, coded.ptr + fed, coded.len - fed, &plain));
            taken += len;
            assert_bytes(&plain, body, taken);
        }
        rig->api->stream_free(stream);
        foreign_free(f);
        sink_free(&coded);
        sink_free(&plain);
        free(body);
    }
}
#endif

#if HAVE_BROTLI
/* WBITS, by its pattern of bits (RFC 7932 section 9.1). */
static unsigned brotli_window(const struct sink *coded)
{
    unsigned b = coded->ptr[0];

    if (!(b & 1))
        return 16;
    if (b >> 1 & 7)
        return 17 + (b >> 1 & 7);
    return (b >> 4 & 7) == 0 ? 17 : (b >> 4 & 7) == 1 ? 99 : 8 + (b >> 4 & 7);
}

static void brotli_window_fits(void **state)
{
    static const struct {
        int64_t length;
        unsigned window;
    } cases[] = {{1, 10},     {1008, 10},    {1009, 11},    {65520, 16},
                 {65521, 17}, {1 << 20, 21}, {5 << 20, 22}, {INT64_MAX, 22}};
    struct rig *rig = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sink coded = {0};

        code_stream(rig, rig->policy, CODING_BR, cases[i].length, "terse", 5, (struct cut){0, 0},
                    &coded);
        assert_int_equal(brotli_window(&coded), cases[i].window);
        sink_free(&coded);
    }
}

static void brotli_window_fits_whole_bodies(void **state)
{
    static const struct {
        size_t length;
        unsigned window;
    } cases[] = {{300, 18}, {65520, 18}, {262128, 18}, {262129, 19}};
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 262129), *room = body_new(ZEROS, 262129);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sink coded = {room, 0, 262129};

        assert_int_equal(codec_encode_whole(rig->pool, &rig->policy->settings, CODING_BR, body,
                                            cases[i].length, room, 262129, &coded.len),
                         TERSE_OK);
        assert_int_equal(brotli_window(&coded), cases[i].window);
    }
    free(body);
    free(room);
}

/* A body that ends before anything had to leave is coded as one whose length was known. */
static void brotli_short_ones_turn_out_so(void **state)
{
    static const size_t lengths[] = {0, 1, 300, 8192, 8193, 32768};
    static const struct cut ways[] = {{0, 0}, {1000, 0}, {777, 1}};
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 32768), *room = body_new(ZEROS, 65536);

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
            struct sink coded = {0};
            size_t whole;

            assert_int_equal(codec_encode_whole(rig->pool, &rig->policy->settings, CODING_BR, body,
                                                lengths[i], room, 65536, &whole),
                             TERSE_OK);
            code_stream(rig, rig->policy, CODING_BR, -1, body, lengths[i], ways[k], &coded);
            assert_bytes(&coded, room, whole);
            sink_free(&coded);
        }
    free(body);
    free(room);
}

/* What decides of the encoder is what comes first: a flush, the end, or more than is held. */
static void brotli_window_of_unknown_lengths(void **state)
{
    static const struct {
        int quality;
        int32_t operation;
        size_t len; /* of one piece */
        unsigned window;
    } cases[] = {
        {-1, TERSE_RUN, 32768, 18},    {-1, TERSE_FLUSH, 5, 20},     {-1, TERSE_FLUSH, 32768, 20},
        {-1, TERSE_RUN, 32769, 21},    {-1, TERSE_FLUSH, 32769, 21}, {-1, TERSE_FINISH, 32769, 16},
        {5, TERSE_RUN, 131072, 18},    {5, TERSE_FLUSH, 131072, 20}, {5, TERSE_FLUSH, 131073, 22},
        {5, TERSE_FINISH, 131073, 18},
    };
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 131073);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        terse_policy *policy = policy_of_level(rig, CODING_BR, 5);
        terse_stream *stream = open_stream(rig, cases[i].quality < 0 ? rig->policy : policy,
                                           TERSE_ENCODE, CODING_BR, -1);
        struct sink coded = {0};

        assert_true(
            pump(stream, cases[i].operation, body, cases[i].len, (struct cut){0, 0}, &coded) >= 0);
        if (cases[i].operation != TERSE_FINISH)
            assert_int_equal(pump(stream, TERSE_FINISH, NULL, 0, (struct cut){0, 0}, &coded),
                             TERSE_END);
        assert_int_equal(brotli_window(&coded), cases[i].window);
        assert_decodes(CODING_BR, &coded, body, cases[i].len);
        rig->api->stream_free(stream);
        rig->api->policy_unref(policy);
        sink_free(&coded);
    }
    free(body);
}

/* Long streams end their meta-blocks early, in whatever pieces they come, and stay within 1 % of one
 * call at the same quality, also where their length is not known. */
static void brotli_long_streams(void **state)
{
    static const struct cut long_cuts[] = {{32768, 0}, {0, 0}, {0, 100}, {50001, 7}};
    const size_t len = 2500000;
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, len), *room = body_new(ZEROS, len);

    for (int level = 3; level <= 5; level++) {
        terse_policy *policy = policy_of_level(rig, CODING_BR, level);
        size_t whole;

        assert_int_equal(codec_encode_whole(rig->pool, &policy->settings, CODING_BR, body, len,
                                            room, len, &whole),
                         TERSE_OK);
        for (size_t i = 0; i < sizeof long_cuts / sizeof long_cuts[0]; i++)
            for (int known = 0; known < 2; known++) {
                struct sink coded = {0};

                code_stream(rig, policy, CODING_BR, known ? (int64_t)len : -1, body, len,
                            long_cuts[i], &coded);
                assert_decodes(CODING_BR, &coded, body, len);
                assert_true(coded.len <= whole + whole / 100);
                sink_free(&coded);
            }
        rig->api->policy_unref(policy);
    }
    free(body);
    free(room);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if HAVE_ZLIB
        cmocka_unit_test(gzip_header_has_no_time),
        cmocka_unit_test(zlib_window_fits),
#endif
#if HAVE_ZSTD
        cmocka_unit_test(zstd_window_is_bounded),
        cmocka_unit_test(zstd_blocks_are_short),
#endif
#if HAVE_BROTLI
        cmocka_unit_test(brotli_window_fits),
        cmocka_unit_test(brotli_window_fits_whole_bodies),
        cmocka_unit_test(brotli_short_ones_turn_out_so),
        cmocka_unit_test(brotli_window_of_unknown_lengths),
        cmocka_unit_test(brotli_long_streams),
#endif
    };

    return cmocka_run_group_tests(tests, up, down);
}
