/* SPDX-License-Identifier: MIT */
/* Whole bodies, and the levels that "auto" stands for. */
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
    rig_down(*state);
    return 0;
}

static terse_status encode(struct rig *rig, const terse_policy *policy, int coding,
                           const void *body, size_t len, size_t cap, struct sink *coded)
{
    uint8_t *room = malloc(cap + !cap); /* no larger, so that a sanitizer sees a step too far */
    size_t n = 0;
    terse_status status =
        codec_encode_whole(rig->pool, &policy->settings, coding, body, len, room, cap, &n);

    assert_true(n <= cap);
    sink_add(coded, room, n);
    free(room);
    return status;
}

static void round_trip(struct rig *rig, const terse_policy *policy, int coding, enum body kind,
                       size_t len)
{
    uint8_t *body = body_new(kind, len);
    struct sink coded = {0}, again = {0};

    assert_int_equal(encode(rig, policy, coding, body, len, len + len / 8 + 256, &coded), TERSE_OK);
    assert_decodes(coding, &coded, body, len);
    /* equal bodies give equal bytes, whatever the coder did before */
    assert_int_equal(encode(rig, policy, coding, body, len, len + len / 8 + 256, &again), TERSE_OK);
    assert_bytes(&again, coded.ptr, coded.len);
    sink_free(&coded);
    sink_free(&again);
    free(body);
}

static void every_level_and_length(void **state)
{
    static const size_t lengths[] = {0, 1, 2, 299, 300, 4095, 65535, 65536, 300000};
    struct rig *rig = *state;
    int low, high;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        level_range(*c, &low, &high);
        for (int level = low; level <= high; level++) {
            terse_policy *policy = policy_of_level(rig, *c, level);
            size_t most = *c == CODING_BR && level > 9     ? 4095
                          : *c == CODING_ZSTD && level > 9 ? 65535
                                                           : 300000;

            for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
                if (lengths[i] <= most)
                    round_trip(rig, policy, *c, TEXT, lengths[i]);
            round_trip(rig, policy, *c, NOISE, 3000);
            rig->api->policy_unref(policy);
        }
    }
}

static void engines(void **state)
{
    static const char *const names[] = {
        "auto",
        "zlib",
#if HAVE_LIBDEFLATE
        "libdeflate"
#endif
    };
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 50000);

    if (!HAVE_ZLIB)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof names[0] && names[i]; i++) {
        terse_policy *policy = policy_with(rig, "gzip.engine", names[i]);
        static const uint8_t start[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0}; /* mtime 0 */
        struct sink coded = {0};

        round_trip(rig, policy, CODING_DEFLATE, TEXT, 50000);
        assert_int_equal(encode(rig, policy, CODING_GZIP, body, 50000, 50000, &coded), TERSE_OK);
        assert_memory_equal(coded.ptr, start, sizeof start);
        assert_decodes(CODING_GZIP, &coded, body, 50000);
        assert_int_equal(codec_uses_libdeflate(&policy->settings),
                         HAVE_LIBDEFLATE && strcmp(names[i], "zlib") != 0);
        sink_free(&coded);
        rig->api->policy_unref(policy);
    }
    free(body);
}

/* It fits to the byte, or it does not; the coder is clean after each. */
static void does_not_fit(void **state)
{
    struct rig *rig = *state;
    terse_policy *zlib = policy_with(rig, "gzip.engine", "zlib");
    uint8_t *body = body_new(TEXT, 9000);

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (int engine = 0; engine < (*c == CODING_GZIP ? 2 : 1); engine++) {
            const terse_policy *policy = engine ? zlib : rig->policy;
            struct sink coded = {0}, more = {0};
            size_t n;

            assert_int_equal(encode(rig, policy, *c, body, 9000, 20000, &coded), TERSE_OK);
            n = coded.len;
            for (size_t cap = 0; cap < n; cap += cap < 40 || cap > n - 10 ? 1 : 97) {
                assert_int_equal(encode(rig, policy, *c, body, 9000, cap, &more), TERSE_MORE);
                assert_int_equal(more.len, 0);
            }
            /* codecs want a few bytes of room that they do not fill */
            assert_int_equal(encode(rig, policy, *c, body, 9000, n + 16, &more), TERSE_OK);
            assert_bytes(&more, coded.ptr, n);
            sink_free(&coded);
            sink_free(&more);
        }
    rig->api->policy_unref(zlib);
    free(body);
}

static void noise_is_no_gain(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t len = 1; len < 300000; len = len * 7 + 3) {
            uint8_t *body = body_new(NOISE, len);
            struct sink coded = {0};

            assert_int_equal(encode(rig, rig->policy, *c, body, len, len - 1, &coded), TERSE_MORE);
            sink_free(&coded);
            free(body);
        }
}

static void unknown_codings(void **state)
{
    struct rig *rig = *state;
    struct sink coded = {0};
    static const int none[] = {CODING_IDENTITY, CODING_NONE, 99};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(encode(rig, rig->policy, none[i], "a", 1, 100, &coded), TERSE_E_CODING);
    sink_free(&coded);
}

#if HAVE_ZSTD
/* 9 MB of zeros at the highest level: 8 MB of window and not one byte more. */
static void zstd_window_of_long_bodies(void **state)
{
    struct rig *rig = *state;
    size_t len = 9 << 20;
    uint8_t *body = body_new(ZEROS, len);

    for (int level = 3; level <= 19; level += 16) {
        terse_policy *policy = policy_of_level(rig, CODING_ZSTD, level);
        struct sink coded = {0};

        assert_int_equal(encode(rig, policy, CODING_ZSTD, body, len, len, &coded), TERSE_OK);
        assert_int_equal(coded.ptr[4] >> 5 & 1, 0); /* not a single segment, which has no bound */
        assert_true(coded.ptr[5] <= (23 - 10) << 3);
        assert_decodes(CODING_ZSTD, &coded, body, len);
        sink_free(&coded);
        rig->api->policy_unref(policy);
    }
    free(body);
}
#endif

/* Each number is that library's own: a higher one never gives more bytes on a body this long. */
static void levels_arrive(void **state)
{
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 100000);
    int low, high;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        size_t n[2];

        level_range(*c, &low, &high);
        for (int i = 0; i < 2; i++) {
            terse_policy *policy = policy_of_level(rig, *c, i ? 9 : low);
            struct sink coded = {0};

            assert_int_equal(codec_level(&policy->settings, *c, 100, 1), i ? 9 : low);
            assert_int_equal(codec_level(&policy->settings, *c, -1, 0), i ? 9 : low);
            assert_int_equal(encode(rig, policy, *c, body, 100000, 100000, &coded), TERSE_OK);
            n[i] = coded.len;
            sink_free(&coded);
            rig->api->policy_unref(policy);
        }
        assert_true(n[1] < n[0]);
    }
    free(body);
}

static void automatic_levels(void **state)
{
    struct rig *rig = *state;
    const struct settings *s = &rig->policy->settings;
    terse_policy *zlib = policy_with(rig, "gzip.engine", "zlib");

    assert_int_equal(codec_level(s, CODING_ZSTD, 300, 1), 3);
    assert_int_equal(codec_level(s, CODING_ZSTD, -1, 0), 3);
    assert_int_equal(codec_level(s, CODING_BR, 8192, 1), 5);
    assert_int_equal(codec_level(s, CODING_BR, 8193, 1), 4);
    assert_int_equal(codec_level(s, CODING_BR, 65537, 1), 4);
    assert_int_equal(codec_level(s, CODING_BR, 8192, 0), 5);
    assert_int_equal(codec_level(s, CODING_BR, 8193, 0), 3);
    assert_int_equal(codec_level(s, CODING_BR, 65537, 0), 3);
    assert_int_equal(codec_level(s, CODING_BR, -1, 0), 3);
    for (int coding = CODING_GZIP; coding != CODING_NONE;
         coding = coding == CODING_GZIP ? CODING_DEFLATE : CODING_NONE) {
        if (HAVE_LIBDEFLATE) {
            assert_int_equal(codec_level(s, coding, 8192, 1), 1);
            assert_int_equal(codec_level(s, coding, 65536, 1), 3);
            assert_int_equal(codec_level(s, coding, 65537, 1), 4);
        }
        assert_int_equal(codec_level(s, coding, 8192, 0), 6);
        assert_int_equal(codec_level(s, coding, 8193, 0), 4);
        assert_int_equal(codec_level(s, coding, -1, 0), 4);
        assert_int_equal(codec_level(&zlib->settings, coding, 8192, 1), 6);
        assert_int_equal(codec_level(&zlib->settings, coding, 65536, 1), 4);
    }
    rig->api->policy_unref(zlib);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_and_length),
        cmocka_unit_test(engines),
        cmocka_unit_test(does_not_fit),
        cmocka_unit_test(noise_is_no_gain),
        cmocka_unit_test(unknown_codings),
#if HAVE_ZSTD
        cmocka_unit_test(zstd_window_of_long_bodies),
#endif
        cmocka_unit_test(levels_arrive),
        cmocka_unit_test(automatic_levels),
    };

    return cmocka_run_group_tests(tests, up, down);
}
