/* SPDX-License-Identifier: MIT */
/* Nothing is allocated once a pool is warm, and each allocation that fails is a return code. */
#include "bodies.h"

#include <errno.h>

#include "alloc_gate.h"
#include "codec.h"
#include "policy.h"
#include "pool.h"
#include "stream.h"

#define BODY 40000
#define ROOM 60000

static uint8_t body[BODY], coded[CODING_COUNT][ROOM], room[ROOM];
static size_t coded_len[CODING_COUNT];

static int up(void **state)
{
    static const char *const settings[] = {"zstd.frames=several", NULL};
    static struct rig rig;

    rig_up(&rig, settings);
    body_fill(TEXT, body, BODY);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink sink = {0};

        foreign_encode(*c, body, BODY, &sink);
        memcpy(coded[*c], sink.ptr, sink.len);
        coded_len[*c] = sink.len;
        sink_free(&sink);
    }
    *state = &rig;
    return 0;
}

static int down(void **state)
{
    rig_down(*state);
    return 0;
}

/* ---- work, with no memory of the test's own ---------------------------------------------- */

/* A stream over from, in pieces, to room; the first status that ends it. */
static terse_status work_stream(struct rig *rig, const terse_spec *spec, const uint8_t *from,
                                size_t len, bool flush, size_t *n)
{
    terse_out out = {room, ROOM, 0};
    terse_status status;
    terse_stream *stream;

    *n = 0;
    status = rig->api->stream_open(rig->pool, spec, &stream);
    if (status < 0)
        return status;
    for (size_t at = 0; at < len && status >= 0; at += 5000) {
        size_t piece = len - at < 5000 ? len - at : 5000;
        terse_in in = {from + at, piece, 0};

        status = rig->api->stream_run(stream, flush ? TERSE_FLUSH : TERSE_RUN, &in, &out, NULL);
    }
    if (status == TERSE_OK) {
        terse_in in = {NULL, 0, 0};

        status = rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
    }
    if (status < 0) { /* it stays so, and nothing moves */
        terse_in in = {from, len, 0};
        size_t pos = out.pos;

        if (rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL) != status ||
            out.pos != pos || in.pos)
            status = -99;
    }
    rig->api->stream_free(stream);
    *n = out.pos;
    return status;
}

enum work { STREAM, KNOWN, FLUSHED, WHOLE, DECODED, WORKS };

static terse_status work(struct rig *rig, const terse_policy *policy, int coding, enum work kind,
                         size_t len, size_t *n)
{
    const char *name = coding_name(coding);
    terse_spec spec = {sizeof spec,
                       kind == DECODED ? TERSE_DECODE : TERSE_ENCODE,
                       policy,
                       NULL,
                       {name, strlen(name)},
                       kind == KNOWN ? (int64_t)len : -1};
    terse_status status;

    if (kind == DECODED)
        return work_stream(rig, &spec, coded[coding], coded_len[coding], false, n);
    if (kind != WHOLE)
        return work_stream(rig, &spec, body, len, kind == FLUSHED, n);
    *n = 0;
    status = codec_encode_whole(rig->pool, &policy->settings, coding, body, len, room, ROOM, n);
    return status == TERSE_OK ? TERSE_END : status;
}

/* What lies in room is right. */
static void assert_right(int coding, enum work kind, size_t len, size_t n)
{
    struct sink sink = {room, n, n};

    if (kind == DECODED)
        assert_bytes(&sink, body, BODY);
    else
        assert_decodes(coding, &sink, body, len);
}

/* ---- a warm pool ------------------------------------------------------------------------- */

/* Bodies of several lengths in turn, in every coding, there and back, with aborts between. */
static void round_of_work(struct rig *rig, const terse_policy *zlib)
{
    static const size_t lengths[] = {300, 2000, 9000, BODY};
    size_t n;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            for (enum work kind = STREAM; kind < WORKS; kind++)
                work(rig, rig->policy, *c, kind, lengths[i], &n);
            work(rig, zlib, *c, WHOLE, lengths[i], &n);
            codec_encode_whole(rig->pool, &rig->policy->settings, *c, body, lengths[i], room, 20,
                               &n); /* does not fit */
        }
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (int32_t direction = TERSE_ENCODE; direction <= TERSE_DECODE; direction++) {
            const char *name = coding_name(*c);
            terse_spec spec = {sizeof spec, direction, rig->policy, NULL, {name, strlen(name)}, -1};
            terse_in in = {body, 4000, 0};
            terse_out out = {room, ROOM, 0};
            terse_stream *stream;

            rig->api->stream_open(rig->pool, &spec, &stream);
            rig->api->stream_run(stream, TERSE_RUN, &in, &out, NULL);
            rig->api->stream_free(stream);
            rig->api->pool_lend(rig->pool, 8192, &out);
            rig->api->pool_return(rig->pool, out.ptr);
        }
}

static void warm_pool_allocates_nothing(void **state)
{
    struct rig *rig = *state;
    terse_policy *zlib = policy_with(rig, "gzip.engine", "zlib");
    size_t frees;

    for (int i = 0; i < 3; i++)
        round_of_work(rig, zlib);
    gate_close(0);
    for (int i = 0; i < 20; i++)
        round_of_work(rig, zlib);
    assert_int_equal(gate_open(&frees), 0);
    assert_int_equal(frees, 0);
    rig->api->policy_unref(zlib);
    /* and the gate does see what a cold pool does */
    rig->api->pool_free(rig->pool);
    gate_close(0);
    assert_int_equal(rig->api->pool_new(rig->instance, rig->policy, &rig->pool), TERSE_OK);
    round_of_work(rig, rig->policy);
    assert_true(gate_open(NULL) > 10);
}

/* ---- no memory --------------------------------------------------------------------------- */

/* In a new pool the nth allocation fails.  False when there are not so many. */
static bool fail_nth(struct rig *rig, const terse_policy *policy, int coding, enum work kind,
                     size_t nth)
{
    size_t n = 0;
    terse_status status;
    bool failed;

    errno = 5;
    gate_close(nth);
    status = rig->api->pool_new(rig->instance, policy, &rig->pool);
    if (status == TERSE_OK)
        status = work(rig, policy, coding, kind, BODY, &n);
    gate_open(NULL);
    failed = gate_has_failed();
    assert_int_equal(errno, 5);
    if (status == TERSE_END)
        assert_right(coding, kind, BODY, n);
    else if (kind == DECODED)
        assert_int_equal(status, TERSE_E_NOMEM);
    else
        assert_true(status == TERSE_E_NOMEM || status == TERSE_E_BROKEN);
    assert_true(failed || status == TERSE_END);
    if (rig->pool) { /* nothing of it is left behind, and the next body is right */
        if (status == TERSE_E_BROKEN)
            assert_int_equal(rig->pool->shelf.count, 0); /* what failed is not kept */
        assert_true(counter(rig, "memory.held") <= counter(rig, "memory.idle") + 32768);
        assert_int_equal(work(rig, policy, coding, kind, BODY, &n), TERSE_END);
        assert_right(coding, kind, BODY, n);
        assert_int_equal(counter(rig, "streams.live"), 0);
    }
    rig->api->pool_free(rig->pool);
    rig->pool = NULL;
    return failed;
}

static void fail_all(struct rig *rig, const terse_policy *policy, int coding, enum work kind)
{
    size_t nth = 1;

    while (fail_nth(rig, policy, coding, kind, nth))
        nth++;
    assert_true(nth > 2);
}

static void each_allocation_may_fail(void **state)
{
    struct rig *rig = *state;
    terse_policy *zlib = policy_with(rig, "gzip.engine", "zlib");
    terse_pool *pool = rig->pool;

    rig->pool = NULL;
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (enum work kind = STREAM; kind < WORKS; kind++) {
            fail_all(rig, rig->policy, *c, kind);
            if (kind == WHOLE)
                fail_all(rig, zlib, *c, kind);
            for (int level = 1; level <= 5 && kind != DECODED; level += 2) {
                terse_policy *policy = policy_of_level(rig, *c, level);

                fail_all(rig, policy, *c, kind);
                rig->api->policy_unref(policy);
            }
        }
    rig->pool = pool;
    rig->api->policy_unref(zlib);
}

/* A pool that is in use, and from then on memory is short now and then. */
static void memory_runs_short_in_use(void **state)
{
    struct rig *rig = *state;
    size_t n;

    for (size_t nth = 1; nth < 40; nth++)
        for (const int *c = codings(); *c != CODING_NONE; c++)
            for (enum work kind = STREAM; kind < WORKS; kind++) {
                terse_out out = {NULL, 0, 0};
                terse_status status;

                rig->api->pool_tick(rig->pool, nth * 100000); /* sweeps: cold again in part */
                gate_close(nth);
                status = work(rig, rig->policy, *c, kind, BODY, &n);
                rig->api->pool_lend(rig->pool, 100000 * nth, &out);
                gate_open(NULL);
                rig->api->pool_return(rig->pool, out.ptr);
                assert_true(status == TERSE_END || status == TERSE_E_NOMEM ||
                            status == TERSE_E_BROKEN);
                if (status == TERSE_END)
                    assert_right(*c, kind, BODY, n);
                assert_int_equal(counter(rig, "streams.live"), 0);
            }
}

/* ---- parked streams ---------------------------------------------------------------------- */

/* A stream that was parked when its source had given len bytes; its coder is gone. */
static terse_stream *parked_stream(struct rig *rig, int coding, size_t len, terse_out *out)
{
    static uint64_t now = UINT64_C(1) << 40;
    terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, coding, -1);
    terse_in in = {body, len, 0};

    *out = (terse_out){room, ROOM, 0};
    assert_int_equal(rig->api->stream_run(stream, TERSE_FLUSH, &in, out, NULL), TERSE_OK);
    for (int i = 0; i < 40; i++)
        rig->api->pool_tick(rig->pool, now += 1000);
    assert_int_equal(counter(rig, "streams.parked"), 1);
    return stream;
}

/* Goes on with a parked body when the nth allocation fails; false: it did not come to that. */
static bool resume_nth(struct rig *rig, int coding, size_t len, size_t nth)
{
    terse_out out;
    terse_stream *stream = parked_stream(rig, coding, len, &out);
    terse_in in = {body + len, 9000, 0}, more = in;
    size_t before = out.pos;
    terse_status status;
    bool failed;

    gate_close(nth);
    errno = 12345;
    status = rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
    failed = gate_has_failed();
    gate_open(NULL);
    assert_int_equal(errno, 12345);
    if (status != TERSE_END) { /* and so it stays: bytes have left, these cannot follow */
        assert_true(failed);
        assert_int_equal(status, TERSE_E_BROKEN);
        assert_true(nth > 1 || (!in.pos && out.pos == before));
        assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &more, &out, NULL),
                         TERSE_E_BROKEN);
        assert_int_equal(more.pos, 0);
    } else if (coding != CODING_ZSTD || !len) {
        assert_right(coding, STREAM, len + 9000, out.pos);
    }
    rig->api->stream_free(stream);
    assert_int_equal(counter(rig, "streams.live"), 0);
    assert_int_equal(counter(rig, "streams.parked"), 0);
    return failed;
}

/* Without memory a parked stream does not go on; but it can still end. */
static void no_memory_to_go_on(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t len = 0; len < 5000 && *c != CODING_BR; len += 4000) {
            terse_in none = {NULL, 0, 0};
            terse_stream *stream;
            terse_out out;
            size_t nth = 1;

            while (resume_nth(rig, *c, len, nth))
                nth++;
            assert_true(nth > 2);
            if (!len)
                continue;
            stream = parked_stream(rig, *c, len, &out);
            gate_close(1);
            assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &none, &out, NULL),
                             TERSE_END);
            assert_int_equal(gate_open(NULL), 0);
            assert_right(*c, STREAM, len, out.pos);
            rig->api->stream_free(stream);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(warm_pool_allocates_nothing, up, down),
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, up, down),
        cmocka_unit_test_setup_teardown(memory_runs_short_in_use, up, down),
        cmocka_unit_test_setup_teardown(no_memory_to_go_on, up, down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
