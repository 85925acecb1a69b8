/* SPDX-License-Identifier: MIT */
/* The pool: what comes back from it is clean, warm and bounded. */
#include "bodies.h"

#include "blocks.h"
#include "codec.h"
#include "exchange.h"
#include "policy.h"
#include "pool.h"
#include "reasons.h"
#include "stream.h"

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

/* ---- streams come back clean ------------------------------------------------------------------
 */

/* How far a body gets before its exchange is aborted. */
enum abandon { UNUSED, STARTED, HALF, OUTPUT_LEFT, FLUSH_LEFT, FINISH_LEFT, FINISHED, WRONG, LAST };

static void abandon(struct rig *rig, const terse_policy *policy, int32_t direction, int coding,
                    enum abandon how)
{
    terse_stream *stream = open_stream(rig, policy, direction, coding, -1);
    uint8_t *body = body_new(TEXT, 80000);
    struct sink from = {0}, sink = {0};
    terse_out out = {NULL, 0, 0};
    terse_in in;

    if (direction == TERSE_DECODE && how != WRONG)
        foreign_encode(coding, body, 80000, &from);
    else
        sink_add(&from, body, 80000);
    in = (terse_in){from.ptr, how == UNUSED ? 0 : from.len / 2, 0};
    if (how == STARTED || how == HALF || how == FINISHED)
        pump(stream, how == FINISHED ? TERSE_FINISH : TERSE_RUN, from.ptr,
             how == FINISHED ? from.len
             : how == HALF   ? in.len
                             : 1,
             (struct cut){0, 0}, &sink);
    else
        rig->api->stream_run(stream,
                             how == FLUSH_LEFT    ? TERSE_FLUSH
                             : how == FINISH_LEFT ? TERSE_FINISH
                                                  : TERSE_RUN,
                             &in, &out, NULL);
    rig->api->stream_free(stream);
    sink_free(&from);
    sink_free(&sink);
    free(body);
}

/* The next body is coded to the same bytes that a pool makes which has never coded another. */
static void assert_as_new(struct rig *rig, const terse_policy *policy, int coding, int64_t length)
{
    uint8_t *body = body_new(TEXT, 50000);
    struct sink coded = {0}, fresh = {0};
    terse_pool *pool = rig->pool;

    code_stream(rig, policy, coding, length, body, 50000, (struct cut){6000, 0}, &coded);
    assert_decodes(coding, &coded, body, 50000);
    assert_int_equal(rig->api->pool_new(rig->instance, rig->policy, &rig->pool), TERSE_OK);
    code_stream(rig, policy, coding, length, body, 50000, (struct cut){6000, 0}, &fresh);
    rig->api->pool_free(rig->pool);
    rig->pool = pool;
    assert_bytes(&coded, fresh.ptr, fresh.len);
    sink_free(&coded);
    sink_free(&fresh);
    free(body);
}

static void abandoned_encoders(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_policy *high = policy_of_level(rig, *c, 6), *low = policy_of_level(rig, *c, 1);

        for (enum abandon how = UNUSED; how < WRONG; how++) {
            uint64_t reused = counter(rig, "streams.reused");

            abandon(rig, low, TERSE_ENCODE, *c, how);
            assert_as_new(rig, low, *c, -1);
            if (*c != CODING_BR) /* it was the same one */
                assert_true(counter(rig, "streams.reused") > reused);
            abandon(rig, high, TERSE_ENCODE, *c, how);
            assert_as_new(rig, low, *c, -1);
            abandon(rig, low, TERSE_ENCODE, *c, how);
            assert_as_new(rig, high, *c, 50000);
        }
        rig->api->policy_unref(high);
        rig->api->policy_unref(low);
    }
}

static void abandoned_decoders(void **state)
{
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 50000);

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (enum abandon how = UNUSED; how < LAST; how++) {
            struct sink coded = {0}, plain = {0};
            terse_stream *stream;

            abandon(rig, rig->policy, TERSE_DECODE, *c, how);
            foreign_encode(*c, body, 50000, &coded);
            stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
            assert_int_equal(
                pump(stream, TERSE_FINISH, coded.ptr, coded.len, (struct cut){99, 0}, &plain),
                TERSE_END);
            assert_bytes(&plain, body, 50000);
            rig->api->stream_free(stream);
            sink_free(&coded);
            sink_free(&plain);
        }
    free(body);
}

/* Two at once are two, also with equal parameters. */
static void streams_are_apart(void **state)
{
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 9000), *other = body_new(NOISE, 9000);

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *a = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        terse_stream *b = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        struct sink one = {0}, two = {0};

        assert_int_equal(counter(rig, "streams.live"), 2);
        for (size_t at = 0; at < 9000; at += 1000) {
            pump(a, TERSE_RUN, body + at, 1000, (struct cut){0, 0}, &one);
            pump(b, TERSE_RUN, other + at, 1000, (struct cut){0, 0}, &two);
        }
        assert_int_equal(pump(a, TERSE_FINISH, NULL, 0, (struct cut){0, 0}, &one), TERSE_END);
        assert_int_equal(pump(b, TERSE_FINISH, NULL, 0, (struct cut){0, 0}, &two), TERSE_END);
        assert_decodes(*c, &one, body, 9000);
        assert_decodes(*c, &two, other, 9000);
        rig->api->stream_free(b);
        rig->api->stream_free(a);
        sink_free(&one);
        sink_free(&two);
    }
    free(body);
    free(other);
}

/* ---- arguments --------------------------------------------------------------------------------
 */

static terse_status try_open(struct rig *rig, terse_spec spec)
{
    terse_stream *stream = NULL;
    terse_status status = rig->api->stream_open(rig->pool, &spec, &stream);

    assert_true((status == TERSE_OK) == (stream != NULL));
    rig->api->stream_free(stream);
    return status;
}

static void specs(void **state)
{
    struct rig *rig = *state;
    const terse_spec good = {sizeof good, TERSE_DECODE, rig->policy, NULL, coding_str(codings()[0]),
                             -1};
    terse_policy *unsealed;
    terse_stream *stream;
    terse_spec spec;

    struct {
        terse_spec spec;
        uint64_t more[600];
    } longer = {good, {0}};

    assert_int_equal(try_open(rig, good), TERSE_OK);
    assert_int_equal(rig->api->stream_open(NULL, &good, &stream), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_open(rig->pool, NULL, &stream), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_open(rig->pool, &good, NULL), TERSE_E_ARG);
    spec = good, spec.struct_size = TERSE_SPEC_SIZE_V0 - 1;
    assert_int_equal(try_open(rig, spec), TERSE_E_ARG);
    spec = good, spec.struct_size = 0;
    assert_int_equal(try_open(rig, spec), TERSE_E_ARG);
    for (int32_t direction = -1; direction < 9; direction++) {
        spec = good, spec.direction = direction;
        if (direction != TERSE_ENCODE && direction != TERSE_DECODE)
            assert_int_equal(try_open(rig, spec), TERSE_E_ARG);
    }
    spec = good, spec.policy = NULL;
    assert_int_equal(try_open(rig, spec), TERSE_E_ARG);
    spec = good, spec.coding = (terse_str){NULL, 4};
    assert_int_equal(try_open(rig, spec), TERSE_E_ARG);
    static const char *const unknown[] = {"", "identity", "compress", "gzip ", "xz", "GZ", "b"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        spec = good, spec.coding = S(unknown[i]);
        assert_int_equal(try_open(rig, spec), TERSE_E_CODING);
    }
    if (HAVE_ZLIB) {
        spec = good, spec.coding = S("X-GZip");
        assert_int_equal(try_open(rig, spec), TERSE_OK);
    }
    assert_int_equal(rig->api->policy_new(rig->instance, &unsealed), TERSE_OK);
    spec = good, spec.policy = unsealed;
    assert_int_equal(try_open(rig, spec), TERSE_E_STATE);
    rig->api->policy_unref(unsealed);

    longer.spec.struct_size = sizeof longer.spec + 80;
    assert_int_equal(rig->api->stream_open(rig->pool, &longer.spec, &stream), TERSE_OK);
    rig->api->stream_free(stream);
    longer.more[9] = 1;
    assert_int_equal(rig->api->stream_open(rig->pool, &longer.spec, &stream), TERSE_E_TOOBIG);
    longer.spec.struct_size = sizeof longer;
    assert_true(rig->api->stream_open(rig->pool, &longer.spec, &stream) < 0);
    assert_int_equal(counter(rig, "streams.live"), 0);
}

static void runs(void **state)
{
    struct rig *rig = *state;
    terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, codings()[0], -1);
    uint8_t room[100];
    terse_in in = {"abc", 3, 0}, bad_in = {"abc", 3, 4}, null_in = {NULL, 3, 0};
    terse_out out = {room, 100, 0}, bad_out = {room, 100, 101}, null_out = {NULL, 1, 0};

    struct {
        terse_report report;
        uint64_t more[2];
    } longer = {{sizeof longer, 9, 9}, {9, 9}};

    assert_int_equal(rig->api->stream_run(NULL, TERSE_RUN, &in, &out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, NULL, &out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, NULL, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, -1, &in, &out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, 3, &in, &out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &bad_in, &out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &null_in, &out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &bad_out, NULL), TERSE_E_ARG);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &null_out, NULL), TERSE_E_ARG);
    longer.report.struct_size = TERSE_REPORT_SIZE_V0 - 1;
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &out, &longer.report),
                     TERSE_E_ARG);
    assert_int_equal(in.pos, 0);
    longer.report.struct_size = sizeof longer;
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &out, &longer.report), TERSE_OK);
    assert_int_equal(in.pos, 3);
    assert_int_equal(longer.report.unflushed, 3);
    assert_int_equal(longer.report.struct_size, sizeof longer);
    assert_int_equal(longer.more[0] | longer.more[1], 0);
    rig->api->stream_free(stream);
    rig->api->stream_free(stream); /* it is the pool's again: nothing */
    rig->api->stream_free(NULL);
    assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &out, NULL), TERSE_E_ARG);
    assert_int_equal(counter(rig, "streams.live"), 0);
}

static void pools(void **state)
{
    struct rig *rig = *state;
    terse_policy *unsealed;
    terse_pool *pool = NULL;

    assert_int_equal(rig->api->policy_new(rig->instance, &unsealed), TERSE_OK);
    assert_int_equal(rig->api->pool_new(rig->instance, unsealed, &pool), TERSE_E_STATE);
    assert_int_equal(rig->api->pool_new(NULL, rig->policy, &pool), TERSE_E_ARG);
    assert_int_equal(rig->api->pool_new(rig->instance, NULL, &pool), TERSE_E_ARG);
    assert_int_equal(rig->api->pool_new(rig->instance, rig->policy, NULL), TERSE_E_ARG);
    assert_null(pool);
    rig->api->policy_unref(unsealed);
    rig->api->pool_free(NULL);
    rig->api->pool_tick(NULL, 1);
}

/* ---- an exchange and its stream ---------------------------------------------------------------
 */

static void stream_of_an_exchange(void **state)
{
    struct rig *rig = *state;
    terse_spec spec = {sizeof spec, TERSE_ENCODE, rig->policy, rig->x, coding_str(codings()[0]),
                       -1};
    terse_stream *stream, *second;
    struct sink sink = {0};

    assert_int_equal(stream_open(rig->pool, &spec, &stream), TERSE_OK);
    assert_ptr_equal(rig->x->stream, stream);
    assert_int_equal(stream_open(rig->pool, &spec, &second), TERSE_E_STATE); /* it has one */
    pump(stream, TERSE_FINISH, "0123456789", 10, (struct cut){0, 0}, &sink);
    assert_int_equal(rig->x->bytes_in, 10);
    assert_int_equal(rig->x->bytes_out, sink.len);
    rig->api->stream_free(stream);
    assert_null(rig->x->stream);
    assert_int_equal(stream_open(rig->pool, &spec, &stream), TERSE_OK);
    assert_int_equal(counter(rig, "streams.live"), 1);
    stream_free(rig->x->stream); /* as exchange_end does */
    assert_null(rig->x->stream);
    assert_int_equal(counter(rig, "streams.live"), 0);
    memset(rig->x, 0, sizeof *rig->x);
    sink_free(&sink);
}

/* A pool that goes takes all of its streams with it; leaks show under a sanitizer. */
static void pool_goes_with_its_streams(void **state)
{
    struct rig *rig = *state;
    terse_pool *pool = rig->pool;

    assert_int_equal(rig->api->pool_new(rig->instance, rig->policy, &rig->pool), TERSE_OK);
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (int32_t direction = TERSE_ENCODE; direction <= TERSE_DECODE; direction++) {
            struct sink sink = {0};
            terse_stream *stream = open_stream(rig, rig->policy, direction, *c, -1);

            pump(stream, TERSE_RUN, "\x1f", 1, (struct cut){0, 0}, &sink);
            sink_free(&sink);
        }
    rig->api->pool_free(rig->pool);
    rig->pool = pool;
}

/* ---- counters ---------------------------------------------------------------------------------
 */

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

/* ---- buffers and idle memory ------------------------------------------------------------------
 */

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
    rig->api->pool_tick(rig->pool, now - 100000); /* a clock that is set back */
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

/* After many streams at once no more lies idle than the bound, and no more coders than are worth
 * a search. */
static void idle_memory_is_bounded(void **state)
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
        assert_true(rig->pool->blocks.idle_bytes <= 32 << 20);
    }
    assert_true(counter(rig, "memory.held") <= (64 << 20) + (1 << 20));
}

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
        cmocka_unit_test_setup_teardown(abandoned_encoders, up, down),
        cmocka_unit_test_setup_teardown(abandoned_decoders, up, down),
        cmocka_unit_test_setup_teardown(streams_are_apart, up, down),
        cmocka_unit_test_setup_teardown(specs, up, down),
        cmocka_unit_test_setup_teardown(runs, up, down),
        cmocka_unit_test_setup_teardown(pools, up, down),
        cmocka_unit_test_setup_teardown(stream_of_an_exchange, up, down),
        cmocka_unit_test_setup_teardown(pool_goes_with_its_streams, up, down),
        cmocka_unit_test_setup_teardown(counters, up, down),
        cmocka_unit_test_setup_teardown(buffers, up, down),
        cmocka_unit_test_setup_teardown(idle_memory_is_given_back, up, down),
        cmocka_unit_test_setup_teardown(lent_memory_stays, up, down),
        cmocka_unit_test_setup_teardown(idle_memory_is_bounded, up, down),
        cmocka_unit_test(libraries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
