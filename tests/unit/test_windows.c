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
    } cases[] = {{1, 10},       {1008, 10},    {1009, 11},      {65520, 16}, {65521, 17},
                 {1 << 20, 21}, {5 << 20, 22}, {INT64_MAX, 22}, {-1, 20}};
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

/* Long streams end their meta-blocks early, in whatever pieces they come, and stay within 1 % of one
 * call at the same quality where their length is known. */
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
                if (known)
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
#endif
#if HAVE_BROTLI
        cmocka_unit_test(brotli_window_fits),
        cmocka_unit_test(brotli_window_fits_whole_bodies),
        cmocka_unit_test(brotli_long_streams),
#endif
    };

    return cmocka_run_group_tests(tests, up, down);
}
