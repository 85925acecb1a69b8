/* SPDX-License-Identifier: MIT */
/* The pool counts, keeps what is used warm, and gives back what is not. */
#include "bodies.h"

#include "blocks.h"
#include "codec.h"
#include "policy.h"
#include "pool.h"
#include "reasons.h"

static int up(void **state)
{
    static struct rig rig;

    rig_up(&rig, NULL);
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
    rig_down(rig);
    return 0;
}

/* ---- counters ---------------------------------------------------------------------------- */

static void counters(void **state)
{
    static const char *const first[] = {"streams.live", "streams.opened", "streams.reused",
                                        "whole.coded",  "bytes.in",       "bytes.out",
                                        "memory.held",  "memory.idle"};
    struct rig *rig = *state;
    const char *name;
    uint64_t value, n = 0;
    size_t len = 0;
    uint8_t room[200];

    assert_int_equal(rig->api->pool_counter(NULL, 0, &name, &value), TERSE_E_ARG);
    assert_int_equal(rig->api->pool_counter(rig->pool, 0, NULL, &value), TERSE_E_ARG);
    for (; rig->api->pool_counter(rig->pool, (uint32_t)n, &name, &value) == TERSE_OK; n++) {
        if (n < sizeof first / sizeof first[0])
            assert_string_equal(name, first[n]);
        else if (!strncmp(name, "reason.", 7))
            len++;
    }
    assert_int_equal(len, REASON_COUNT);
    assert_int_equal(rig->api->pool_counter(rig->pool, UINT32_MAX, &name, &value), TERSE_E_ARG);
    for (uint32_t i = 0; i < REASON_COUNT; i++)
        assert_string_equal(reason_counter(i) + 7, reason_name(i));

    n = counter(rig, "whole.coded");
    value = counter(rig, "bytes.in");
    assert_int_equal(codec_encode_whole(rig->pool, &rig->policy->settings, codings()[0],
                                        "terse terse terse terse", 23, room, sizeof room, &len),
                     TERSE_OK);
    assert_int_equal(counter(rig, "whole.coded"), n + 1);
    assert_int_equal(counter(rig, "bytes.in"), value + 23);
    n = counter(rig, "reason.coded");
    pool_count_end(rig->pool, REASON_CODED, TERSE_ABORTED);
    pool_count_end(rig->pool, 255, -5); /* neither is one */
    assert_int_equal(counter(rig, "reason.coded"), n + 1);
    assert_int_equal(counter(rig, "exchanges.aborted"), 1);
}

/* ---- buffers and idle memory ------------------------------------------------------------- */

static void buffers(void **state)
{
    struct rig *rig = *state;
    terse_out out, again;
    void *first;

    for (size_t min = 0; min < 20 << 20; min = min * 3 / 2 + 1) {
        assert_int_equal(rig->api->pool_lend(rig->pool, min, &out), TERSE_OK);
        assert_true(out.len >= min && out.pos == 0);
        assert_true(min <= 256 || out.len <= min + min / 4 + 64);
        assert_int_equal((uintptr_t)out.ptr % BLOCK_ALIGN, 0);
        memset(out.ptr, 0xa5, out.len);
        rig->api->pool_return(rig->pool, out.ptr);
    }
    assert_int_equal(rig->api->pool_lend(rig->pool, 8192, &out), TERSE_OK);
    first = out.ptr;
    rig->api->pool_return(rig->pool, first);
    rig->api->pool_return(rig->pool, first); /* it is not lent: nothing */
    rig->api->pool_return(rig->pool, NULL);
    assert_int_equal(rig->api->pool_lend(rig->pool, 8000, &out), TERSE_OK);
    assert_ptr_equal(out.ptr, first); /* warm */
    assert_int_equal(rig->api->pool_lend(rig->pool, 8192, &again), TERSE_OK);
    assert_ptr_not_equal(again.ptr, first);
    rig->api->pool_return(rig->pool, out.ptr);
    rig->api->pool_return(rig->pool, again.ptr);
    assert_int_equal(rig->api->pool_lend(rig->pool, SIZE_MAX, &out), TERSE_E_NOMEM);
    assert_int_equal(rig->api->pool_lend(rig->pool, SIZE_MAX / 2, &out), TERSE_E_NOMEM);
    assert_int_equal(rig->api->pool_lend(NULL, 1, &out), TERSE_E_ARG);
    assert_int_equal(rig->api->pool_lend(rig->pool, 1, NULL), TERSE_E_ARG);
}

static void use(struct rig *rig)
{
    uint8_t *body = body_new(TEXT, 20000);

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink coded = {0};

        code_stream(rig, rig->policy, *c, -1, body, 20000, (struct cut){3000, 0}, &coded);
        sink_free(&coded);
    }
    assert_non_null(pool_coded_room(rig->pool, 20000));
    free(body);
}

static void idle_memory_is_given_back(void **state)
{
    struct rig *rig = *state;
    uint64_t now = 123456789, held, reused;

    rig->api->pool_tick(rig->pool, now);
    use(rig);
    held = counter(rig, "memory.held");
    assert_true(counter(rig, "memory.idle") > 500000);
    for (int i = 0; i < 50; i++) { /* what is used now and then stays */
        rig->api->pool_tick(rig->pool, now += 1000);
        reused = counter(rig, "streams.reused");
        if (i % 5 == 0)
            use(rig);
        if (i % 5 == 0 && HAVE_ZLIB)
            assert_true(counter(rig, "streams.reused") > reused);
    }
    assert_true(counter(rig, "memory.held") <= held + 65536);
    for (int i = 0; i < 50; i++)
        rig->api->pool_tick(rig->pool, now += 1000);
    assert_int_equal(counter(rig, "memory.idle"), 0);
    assert_true(counter(rig, "memory.held") < 8192); /* handles */
    use(rig);                                        /* and all of it can be had again */
}

/* What is lent when the sweeps come is not touched. */
static void lent_memory_stays(void **state)
{
    struct rig *rig = *state;
    const int coding = codings()[0];
    terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, coding, -1);
    uint8_t *body = body_new(TEXT, 30000);
    struct sink coded = {0};
    terse_out out;

    assert_int_equal(rig->api->pool_lend(rig->pool, 5000, &out), TERSE_OK);
    memset(out.ptr, 7, 5000);
    for (uint64_t now = 0; now < 100000; now += 10000) {
        pump(stream, TERSE_RUN, body + now / 10000 * 3000, 3000, (struct cut){0, 0}, &coded);
        rig->api->pool_tick(rig->pool, UINT64_C(1) << 60 | now);
    }
    assert_int_equal(pump(stream, TERSE_FINISH, NULL, 0, (struct cut){0, 0}, &coded), TERSE_END);
    assert_decodes(coding, &coded, body, 30000);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(((uint8_t *)out.ptr)[i], 7);
    rig->api->pool_return(rig->pool, out.ptr);
    rig->api->stream_free(stream);
    sink_free(&coded);
    free(body);
}

/* A clock that is set back, again and again, is no reason to drop what is warm. */
static void clock_set_back(void **state)
{
    struct rig *rig = *state;
    uint64_t now = 1000000, idle;

    rig->api->pool_tick(rig->pool, now);
    use(rig);
    idle = counter(rig, "memory.idle");
    for (int i = 0; i < 5; i++)
        rig->api->pool_tick(rig->pool, now -= 100000);
    assert_int_equal(counter(rig, "memory.idle"), idle);
}

/* After many streams at once no more lies idle than the bound, and no more coders than are worth
 * a search. */
static void idle_coders_are_bounded(void **state)
{
    struct rig *rig = *state;
    terse_stream *streams[70];

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        for (size_t i = 0; i < 70; i++) {
            struct sink sink = {0};

            streams[i] = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
            pump(streams[i], TERSE_RUN, "abc", 3, (struct cut){0, 0}, &sink);
            sink_free(&sink);
        }
        for (size_t i = 0; i < 70; i++)
            rig->api->stream_free(streams[i]);
        assert_true(rig->pool->shelf.count <= 64);
        assert_true(rig->pool->shelf.bytes <= 32 << 20);
    }
    assert_true(counter(rig, "memory.held") <= (64 << 20) + (1 << 20));
}

static void idle_blocks_are_bounded(void **state)
{
    const uint64_t most = 1 << 20;
    struct block_list list = {NULL};
    void *taken[40], *large;
    struct blocks blocks;

    (void)state;
    blocks_init(&blocks, most, SIZE_MAX);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 40; i++) {
            size_t size = i % 2 ? 100000 : 300;

            taken[i] = i % 4 ? blocks_take(&blocks, size) : blocks_take_into(&blocks, &list, size);
            assert_non_null(taken[i]);
        }
        large = blocks_take(&blocks, 20 << 20);
        assert_non_null(large);
        assert_true(blocks.held > 22 << 20);
        blocks_give(&blocks, large); /* larger than any bin: gone at once */
        assert_true(blocks.held < 3 << 20);
        blocks_give(&blocks, taken[4]); /* from the middle of the list, and from its end */
        blocks_give(&blocks, taken[0]);
        blocks_give_list(&blocks, &list);
        for (size_t i = 0; i < 40; i++) /* those of the list are back already */
            if (i % 4)
                blocks_give(&blocks, taken[i]);
        assert_true(blocks.idle_bytes <= most && blocks.idle_bytes > most / 2);
        assert_int_equal(blocks.held, blocks.idle_bytes);
    }
    blocks_clear(&blocks);
    assert_int_equal(blocks.held, 0);
    assert_int_equal(blocks.idle_bytes, 0);
}

#if HAVE_ZSTD
/* A known length saves the tables of a high level, not only its window. */
static void zstd_memory_fits(void **state)
{
    struct rig *rig = *state;
    terse_policy *policy = policy_of_level(rig, CODING_ZSTD, 19);
    terse_stream *stream = open_stream(rig, policy, TERSE_ENCODE, CODING_ZSTD, 60000);
    struct sink sink = {0};

    pump(stream, TERSE_FLUSH, "abc", 3, (struct cut){0, 0}, &sink);
    assert_true(counter(rig, "memory.held") > 100000);
    assert_true(counter(rig, "memory.held") < 4 << 20);
    rig->api->stream_free(stream);
    rig->api->policy_unref(policy);
    sink_free(&sink);
}
#endif

static void libraries(void **state)
{
    struct library list[LIBRARIES_MAX];
    uint32_t n = libraries_list(list);
    char why[200] = "";

    (void)state;
    assert_int_equal(libraries_check(why, sizeof why), TERSE_OK);
    assert_string_equal(why, "");
    assert_int_equal(n, HAVE_ZLIB + HAVE_BROTLI + HAVE_ZSTD + HAVE_LIBDEFLATE);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(strlen(list[i].name) >= 4);
        assert_true(list[i].version[0] >= '0' && list[i].version[0] <= '9');
        assert_non_null(strchr(list[i].version, '.'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counters, up, down),
        cmocka_unit_test_setup_teardown(buffers, up, down),
        cmocka_unit_test_setup_teardown(idle_memory_is_given_back, up, down),
        cmocka_unit_test_setup_teardown(lent_memory_stays, up, down),
        cmocka_unit_test_setup_teardown(clock_set_back, up, down),
        cmocka_unit_test_setup_teardown(idle_coders_are_bounded, up_without_limit, down),
        cmocka_unit_test(idle_blocks_are_bounded),
#if HAVE_ZSTD
        cmocka_unit_test_setup_teardown(zstd_memory_fits, up, down),
#endif
        cmocka_unit_test(libraries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
