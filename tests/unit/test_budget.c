/* SPDX-License-Identifier: MIT */
/* pool.memory: codecs hold no more than was said, and who comes too late gets cheaper settings or
 * none. */
#include "bodies.h"

#include "budget.h"
#include "codec.h"
#include "policy.h"
#include "pool.h"

#define LIMIT (UINT64_C(8) << 20)
#define MANY 400

static int up(void **state)
{
    static const char *const settings[] = {"pool.memory=8m", NULL};
    static struct rig rig;

    rig_up(&rig, settings);
    *state = &rig;
    return 0;
}

static int up_without_limit(void **state)
{
    static const char *const settings[] = {"pool.memory=64g", NULL};
    static struct rig rig;

    rig_up(&rig, settings);
    *state = &rig;
    return 0;
}

static int down(void **state)
{
    struct rig *rig = *state;

    assert_int_equal(counter(rig, "streams.live"), 0);
    assert_int_equal(rig->pool->shelf.owed, 0);
    rig_down(rig);
    return 0;
}

/* ---- what a coder is said to need ---------------------------------------------------------- */

/* What it holds at most while it codes that much of a body, of announced length or none. */
static uint64_t most_held(struct rig *rig, const struct coder_kind *kind,
                          const struct coder_want *want, const uint8_t *body, size_t len)
{
    terse_pool *pool = rig->pool;
    uint8_t *room = malloc(65536);
    uint64_t most = 0;
    bool reused;
    struct coder *coder = coder_take(&pool->shelf, &pool->blocks, kind, want, &reused);

    assert_non_null(coder);
    for (size_t at = 0; at < len; at += 32768) {
        struct coder_io io = {body + at, len - at < 32768 ? len - at : 32768, room, 65536};
        terse_status status;

        while ((status = kind->run(coder, TERSE_RUN, &io)) == TERSE_MORE) {
            io.out = room;
            io.out_len = 65536;
        }
        assert_int_equal(status, TERSE_OK);
        coder_count(&pool->shelf, coder);
        if (pool->blocks.held + pool->shelf.own - pool->blocks.idle_bytes > most)
            most = pool->blocks.held + pool->shelf.own - pool->blocks.idle_bytes;
    }
    coder_give(&pool->shelf, &pool->blocks, coder, false);
    free(room);
    return most;
}

static void assert_need(struct rig *rig, int coding, int level, const struct coder_kind *kind,
                        const struct coder_want *want, const uint8_t *body, size_t len)
{
    uint64_t need = kind->need(want), held = most_held(rig, kind, want, body, len);

    if (held > need + need / 8 + 4096 || (len > 100000 && need > held * 3))
        fail_msg("%s, level %d, length %lld, window %d: said to need %llu, held %llu",
                 coding_name(coding), level, (long long)want->length, want->window,
                 (unsigned long long)need, (unsigned long long)held);
}

/* At each level and for several lengths, and with each cheaper setting, which needs less. */
static void needs_are_right(void **state)
{
    static const struct {
        int64_t length;
        size_t len;
    } bodies[] = {{-1, 1200000}, {1200000, 1200000}, {60000, 60000}, {3000, 3000}};
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 1200000);
    int low, high;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        level_range(*c, &low, &high);
        for (int level = low; level <= high; level += level < 1 || level > 6 ? 3 : 1)
            for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
                terse_policy *policy = policy_of_level(rig, *c, level);
                struct coder_want want;
                const struct coder_kind *kind =
                    codec_encoder(&policy->settings, *c, bodies[i].length, false, &want);
                bool heavy = (*c == CODING_BR && level > 9) || (*c == CODING_ZSTD && level > 12);
                size_t len = heavy && bodies[i].len > 60000 ? 60000 : bodies[i].len;
                uint64_t need;

                do {
                    assert_need(rig, *c, level, kind, &want, body, len);
                    need = kind->need(&want);
                } while (kind->cheaper(&want) && (assert_true(kind->need(&want) <= need), true));
                rig->api->policy_unref(policy);
            }
    }
    free(body);
}

#if HAVE_BROTLI
/* Set aside is enough for a long body, until its source pauses, or it turns out to be short. */
static void less_is_set_aside_after_a_pause(void **state)
{
    static const int32_t operations[] = {TERSE_RUN, TERSE_FLUSH, TERSE_FINISH};
    struct rig *rig = *state;
    uint64_t all[3];

    for (size_t i = 0; i < 3; i++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, CODING_BR, -1);
        struct sink coded = {0};

        pump(stream, operations[i], "terse", 5, (struct cut){0, 0}, &coded);
        all[i] = rig->pool->blocks.held - rig->pool->blocks.idle_bytes + rig->pool->shelf.owed;
        rig->api->stream_free(stream);
        sink_free(&coded);
    }
    assert_true(all[0] > 5 << 20);
    assert_true(all[1] < 5 << 20 && all[1] + (2 << 20) < all[0]);
    assert_true(all[2] < 2 << 20);
}
#endif

/* ---- what a pool holds --------------------------------------------------------------------- */

struct many {
    terse_stream *streams[MANY];
    struct sink sinks[MANY];
    size_t n;
};

static struct many many;

/* Opens streams until one is refused. */
static void open_many(struct rig *rig, int coding, int64_t length)
{
    for (many.n = 0; many.n < MANY; many.n++) {
        terse_spec spec = {sizeof spec, TERSE_ENCODE,       rig->policy,
                           NULL,        coding_str(coding), length};
        terse_status status = rig->api->stream_open(rig->pool, &spec, &many.streams[many.n]);

        if (status == TERSE_E_NOMEM)
            return;
        assert_int_equal(status, TERSE_OK);
    }
    fail_msg("%s: no end", coding_name(coding));
}

static void free_many(struct rig *rig)
{
    while (many.n) {
        rig->api->stream_free(many.streams[--many.n]);
        sink_free(&many.sinks[many.n]);
    }
}

/* In each coding in turn, what the one before it left idle makes room: as many streams as fit, all
 * of them at work at once, and each body right. */
static void limit_holds(void **state)
{
    const size_t len = 300000;
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, len);

    for (int round = 0; round < 2; round++)
        for (const int *c = codings(); *c != CODING_NONE; c++) {
            open_many(rig, *c, (int64_t)len);
            assert_true(many.n >= 3);
            for (size_t at = 0; at < len; at += 20000)
                for (size_t i = 0; i < many.n; i++) {
                    pump(many.streams[i], TERSE_RUN, body + at, 20000, (struct cut){0, 0},
                         &many.sinks[i]);
                    assert_true(counter(rig, "memory.held") <= LIMIT);
                }
            for (size_t i = 0; i < many.n; i++) {
                assert_int_equal(pump(many.streams[i], TERSE_FINISH, NULL, 0, (struct cut){0, 0},
                                      &many.sinks[i]),
                                 TERSE_END);
                if (i < 3 || i + 3 > many.n)
                    assert_decodes(*c, &many.sinks[i], body, len);
            }
            assert_true(counter(rig, "memory.held") > LIMIT / 2);
            free_many(rig);
            assert_true(counter(rig, "memory.held") <= LIMIT);
            assert_true(rig->pool->blocks.idle_bytes <= LIMIT / 2);
            assert_true(rig->pool->shelf.bytes <= LIMIT / 2);
        }
    free(body);
}

#if HAVE_ZLIB
/* The window is in the first byte (RFC 1950 section 2.2). */
static void late_ones_get_less(void **state)
{
    struct rig *rig = *state;
    size_t small = 0;

    open_many(rig, CODING_DEFLATE, -1);
    for (size_t i = 0; i < many.n; i++) {
        pump(many.streams[i], TERSE_FLUSH, "terse", 5, (struct cut){0, 0}, &many.sinks[i]);
        small += many.sinks[i].ptr[0] >> 4 == 13 - 8;
        assert_true(many.sinks[i].ptr[0] >> 4 == 15 - 8 || small);
    }
    assert_true(small >= 10);
    assert_true(many.n - small >= 20);
    free_many(rig);
}

static const char *decide(struct rig *rig, int64_t length)
{
    static struct message m = {"accept-encoding: gzip\n", "content-type: text/html\n"};
    terse_facts f = rig_facts(rig, &m, 200, length);

    assert_int_equal(rig->api->decide(rig->x, &f, &rig->d), TERSE_OK);
    if (rig->d.action == TERSE_WHOLE) {
        uint8_t *body = body_new(TEXT, (size_t)length);
        terse_str coded;

        assert_int_equal(rig->api->encode_whole(rig->x, &f,
                                                (terse_str){(char *)body, (size_t)length}, &coded,
                                                &rig->d),
                         TERSE_OK);
        free(body);
    }
    return rig->d.reason_name;
}

static void then_identity(void **state)
{
    struct rig *rig = *state;

    for (int64_t length = 200000; length <= 10000000; length *= 50) {
        open_many(rig, CODING_GZIP, 1000);
        assert_string_equal(decide(rig, length), "memory");
        assert_int_equal(rig->d.action, TERSE_PASS);
        assert_null(rig->d.coding);
        assert_string_equal(rig_value(rig, "content-encoding"), "");
        assert_string_equal(rig_value(rig, "vary"), "Accept-Encoding");
        rig->api->exchange_end(rig->x, TERSE_DONE, NULL);
        free_many(rig);
        assert_string_equal(decide(rig, length), "coded");
        rig->api->exchange_end(rig->x, TERSE_DONE, NULL);
    }
    assert_int_equal(counter(rig, "reason.memory"), 2);
}

/* A response that has begun gets its buffers all the same; a long one does not. */
static void buffers_count(void **state)
{
    struct rig *rig = *state;
    terse_out out[40], large;
    uint64_t held = counter(rig, "memory.held");

    assert_int_equal(rig->api->pool_lend(rig->pool, 7 << 20, &large), TERSE_OK);
    assert_true(counter(rig, "memory.held") >= held + (7 << 20));
    assert_int_equal(rig->api->pool_lend(rig->pool, 2 << 20, &out[0]), TERSE_E_NOMEM);
    open_many(rig, CODING_GZIP, -1);
    assert_true(many.n < 20);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(rig->api->pool_lend(rig->pool, 256 << 10, &out[i]), TERSE_OK);
    assert_int_equal(rig->api->pool_lend(rig->pool, (256 << 10) + 1, &large), TERSE_E_NOMEM);
    for (size_t i = 0; i < 40; i++)
        rig->api->pool_return(rig->pool, out[i].ptr);
    free_many(rig);
    rig->api->pool_return(rig->pool, large.ptr);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(needs_are_right, up_without_limit, down),
#if HAVE_BROTLI
        cmocka_unit_test_setup_teardown(less_is_set_aside_after_a_pause, up_without_limit, down),
#endif
        cmocka_unit_test_setup_teardown(limit_holds, up, down),
#if HAVE_ZLIB
        cmocka_unit_test_setup_teardown(late_ones_get_less, up, down),
        cmocka_unit_test_setup_teardown(then_identity, up, down),
        cmocka_unit_test_setup_teardown(buffers_count, up, down),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
