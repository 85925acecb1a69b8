/* SPDX-License-Identifier: MIT */
/* Streams are borrowed clean, are apart from one another, and come back exactly once. */
#include "bodies.h"

#include "exchange.h"
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

/* ---- streams come back clean ------------------------------------------------------------- */

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

/* ---- arguments --------------------------------------------------------------------------- */

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

/* ---- an exchange and its stream ---------------------------------------------------------- */

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
