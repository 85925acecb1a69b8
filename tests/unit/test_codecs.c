/* SPDX-License-Identifier: MIT */
/* Encoders as streams, checked by the codec libraries' own decoders. */
#include "bodies.h"

#include "codec.h"
#include "policy.h"

static const size_t lengths[] = {1, 2, 299, 300, 4095, 65535, 65536, 300000};
#define N_LENGTHS (sizeof lengths / sizeof lengths[0])

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

/* ---- round trips ------------------------------------------------------------------------- */

static void round_trip(struct rig *rig, const terse_policy *policy, int coding, enum body kind,
                       size_t len, bool known, struct cut cut)
{
    uint8_t *body = body_new(kind, len);
    struct sink coded = {0};

    code_stream(rig, policy, coding, known ? (int64_t)len : -1, body, len, cut, &coded);
    assert_decodes(coding, &coded, body, len);
    if (kind == TEXT && len >= 300)
        assert_true(coded.len < len);
    sink_free(&coded);
    free(body);
}

static bool is_sample(int coding, int level, size_t len, bool known)
{
    if (!level_is_heavy(coding, level))
        return known || len == 1 || len == 300 || len == 300000;
    if (coding == CODING_BR && level > 9)
        return len <= 4095;
    return known;
}

static void every_level_and_length(void **state)
{
    struct rig *rig = *state;
    int low, high;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        level_range(*c, &low, &high);
        for (int level = low; level <= high; level++) {
            terse_policy *policy = policy_of_level(rig, *c, level);

            for (size_t i = 0; i < N_LENGTHS; i++)
                for (int known = 0; known < 2; known++)
                    if (is_sample(*c, level, lengths[i], known))
                        round_trip(rig, policy, *c, TEXT, lengths[i], known, (struct cut){4099, 0});
            round_trip(rig, policy, *c, NOISE, level_is_heavy(*c, level) ? 2000 : 70000, true,
                       (struct cut){0, 0});
            rig->api->policy_unref(policy);
        }
    }
}

static void buffers_of_every_size(void **state)
{
    static const struct cut shapes[] = {{1, 1},  {1, 0},  {0, 1},   {7, 3},    {13, 64},
                                        {0, 63}, {0, 65}, {333, 7}, {4096, 5}, {0, 0}};
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < N_LENGTHS - 2; i++)
            for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
                round_trip(rig, rig->policy, *c, TEXT, lengths[i], k & 1, shapes[k]);
                if (lengths[i] <= 4095)
                    round_trip(rig, rig->policy, *c, NOISE, lengths[i], !(k & 1), shapes[k]);
            }
}

static void empty_body(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        round_trip(rig, rig->policy, *c, TEXT, 0, false, (struct cut){0, 0});
        round_trip(rig, rig->policy, *c, TEXT, 0, true, (struct cut){0, 1});
    }
}

/* The length is a hint: a body may turn out shorter or longer. */
static void length_was_wrong(void **state)
{
    static const int64_t said[] = {0, 1, 300, 65536, 1 << 30, INT64_MAX, -1, -7, INT64_MIN};
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 70000);

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
            for (size_t len = 1; len <= 70000; len *= 41) {
                struct sink coded = {0};

                code_stream(rig, rig->policy, *c, said[i], body, len, (struct cut){5000, 0},
                            &coded);
                assert_decodes(*c, &coded, body, len);
                sink_free(&coded);
            }
    free(body);
}

/* ---- flush ------------------------------------------------------------------------------- */

/* Pieces of growing length, a flush after each: all of it must be decodable by then. */
static void flushes(struct rig *rig, const terse_policy *policy, int coding, enum body kind,
                    size_t len, bool known, size_t room)
{
    terse_stream *stream =
        open_stream(rig, policy, TERSE_ENCODE, coding, known ? (int64_t)len : -1);
    uint8_t *body = body_new(kind, len);
    struct foreign *f = foreign_new(coding);
    struct sink coded = {0}, plain = {0};
    size_t fed = 0, done = 0;

    for (size_t n = 1; done < len; n = n * 3 + 1) {
        size_t piece = n < len - done ? n : len - done;

        assert_int_equal(
            pump(stream, TERSE_FLUSH, body + done, piece, (struct cut){piece / 2, room}, &coded),
            TERSE_OK);
        done += piece;
        assert_true(foreign_feed(f, coded.ptr + fed, coded.len - fed, &plain));
        fed = coded.len;
        assert_bytes(&plain, body, done);
    }
    assert_int_equal(pump(stream, TERSE_FINISH, NULL, 0, (struct cut){0, room}, &coded), TERSE_END);
    assert_true(foreign_feed(f, coded.ptr + fed, coded.len - fed, &plain));
    assert_true(foreign_complete(f));
    assert_bytes(&plain, body, len);
    rig->api->stream_free(stream);
    foreign_free(f);
    sink_free(&coded);
    sink_free(&plain);
    free(body);
}

static void flush_gives_every_byte(void **state)
{
    static const size_t windows[] = {300, 3000, 15000, 100000};
    struct rig *rig = *state;
    int low, high;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        level_range(*c, &low, &high);
        for (int level = low; level <= high; level++) {
            terse_policy *policy = policy_of_level(rig, *c, level);

            for (size_t i = 0; i < (level_is_heavy(*c, level) ? 2 : 4); i++) {
                flushes(rig, policy, *c, TEXT, windows[i], true, 0);
                flushes(rig, policy, *c, NOISE, windows[i] / 2, true, 7);
                if (!level_is_heavy(*c, level) || (!i && *c == CODING_BR))
                    flushes(rig, policy, *c, TEXT, windows[i], false, i ? 64 : 1);
            }
            rig->api->policy_unref(policy);
        }
    }
}

/* What the report says, and that a flush which has nothing to do gives nothing and comes back. */
static void flush_of_nothing(void **state)
{
    struct rig *rig = *state;
    uint8_t body[1000], room[4096];

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        terse_report report = {.struct_size = sizeof report};
        terse_in nothing = {NULL, 0, 0}, in = {body, sizeof body, 0};
        terse_out out = {room, sizeof room, 0}, none = {NULL, 0, 0};

        for (int again = 0; again < 3; again++) {
            assert_int_equal(rig->api->stream_run(stream, TERSE_FLUSH, &nothing, &out, &report),
                             TERSE_OK);
            assert_int_equal(rig->api->stream_run(stream, TERSE_FLUSH, &nothing, &none, NULL),
                             TERSE_OK);
            assert_int_equal(out.pos, 0);
            assert_int_equal(report.unflushed, 0);
            assert_int_equal(report.flush_ms, 0);
        }
        assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &out, &report), TERSE_OK);
        assert_int_equal(report.unflushed, sizeof body);
        assert_int_equal(report.flush_ms, 20);
        assert_int_equal(rig->api->stream_run(stream, TERSE_FLUSH, &nothing, &out, &report),
                         TERSE_OK);
        assert_int_equal(report.unflushed, 0);
        assert_int_equal(report.flush_ms, 0);
        assert_true(out.pos > 0);
        out.pos = 0;
        for (int again = 0; again < 3; again++) {
            assert_int_equal(rig->api->stream_run(stream, TERSE_FLUSH, &nothing, &out, NULL),
                             TERSE_OK);
            assert_int_equal(out.pos, 0);
        }
        rig->api->stream_free(stream);
    }
}

/* ---- one operation after another --------------------------------------------------------- */

/* An operation that has answered MORE is left for another one: nothing may be lost. */
static void changed_mind(struct rig *rig, int coding, int32_t begun, int32_t then)
{
    terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, coding, -1);
    uint8_t *body = body_new(NOISE, 6000);
    struct sink coded = {0};
    terse_in in = {body, 3000, 0};
    uint8_t room[10];
    terse_out out = {room, sizeof room, 0};
    terse_status status = rig->api->stream_run(stream, begun, &in, &out, NULL);

    sink_add(&coded, room, out.pos);
    if (begun != TERSE_RUN)
        assert_int_equal(status, TERSE_MORE);
    status = pump(stream, then, body + in.pos, (begun == TERSE_FINISH ? 3000 : 6000) - in.pos,
                  (struct cut){0, 0}, &coded);
    if (begun == TERSE_FINISH || then == TERSE_FINISH) {
        assert_int_equal(status, TERSE_END);
        assert_decodes(coding, &coded, body, begun == TERSE_FINISH ? 3000 : 6000);
    } else {
        assert_int_equal(status, TERSE_OK);
        assert_int_equal(pump(stream, TERSE_FINISH, NULL, 0, (struct cut){0, 0}, &coded),
                         TERSE_END);
        assert_decodes(coding, &coded, body, 6000);
    }
    rig->api->stream_free(stream);
    sink_free(&coded);
    free(body);
}

static void operations_in_any_order(void **state)
{
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (int32_t begun = TERSE_RUN; begun <= TERSE_FINISH; begun++)
            for (int32_t then = TERSE_RUN; then <= TERSE_FINISH; then++)
                changed_mind(*state, *c, begun, then);
}

/* More input for a body whose end has been written would be lost: it is refused, not ignored. */
static void input_after_the_end_has_begun(void **state)
{
    struct rig *rig = *state;
    uint8_t body[3000], room[20];

    body_fill(NOISE, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        terse_in in = {body, sizeof body, 0}, more = {"more", 4, 0};
        struct sink coded = {0};
        terse_status status;

        do {
            terse_out out = {room, sizeof room, 0};

            status = rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
            sink_add(&coded, room, out.pos);
        } while (status == TERSE_MORE && in.pos < in.len);
        if (status == TERSE_MORE) {
            terse_out out = {room, sizeof room, 0};

            assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &more, &out, NULL),
                             TERSE_E_ARG);
            assert_int_equal(more.pos + out.pos, 0);
        }
        if (status != TERSE_END)
            assert_int_equal(pump(stream, TERSE_FINISH, NULL, 0, (struct cut){0, 7}, &coded),
                             TERSE_END);
        assert_decodes(*c, &coded, body, sizeof body);
        rig->api->stream_free(stream);
        sink_free(&coded);
    }
}

static void end_is_the_end(void **state)
{
    struct rig *rig = *state;
    uint8_t body[500], room[1000];

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        struct sink coded = {0};

        assert_int_equal(pump(stream, TERSE_FINISH, body, sizeof body, (struct cut){0, 1}, &coded),
                         TERSE_END);
        for (int i = 0; i < 6; i++) {
            static const int32_t operations[] = {TERSE_FINISH, TERSE_FLUSH, TERSE_RUN};
            terse_in in = {body, i < 3 ? 0 : sizeof body, 0};
            terse_out out = {room, sizeof room, 0};
            terse_report report = {.struct_size = sizeof report, .unflushed = 77};

            assert_int_equal(rig->api->stream_run(stream, operations[i % 3], &in, &out, &report),
                             TERSE_END);
            assert_int_equal(in.pos, 0);
            assert_int_equal(out.pos, 0);
            assert_int_equal(report.unflushed, 0);
        }
        assert_decodes(*c, &coded, body, sizeof body);
        rig->api->stream_free(stream);
        sink_free(&coded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_and_length),
        cmocka_unit_test(buffers_of_every_size),
        cmocka_unit_test(empty_body),
        cmocka_unit_test(length_was_wrong),
        cmocka_unit_test(flush_gives_every_byte),
        cmocka_unit_test(flush_of_nothing),
        cmocka_unit_test(operations_in_any_order),
        cmocka_unit_test(input_after_the_end_has_begun),
        cmocka_unit_test(end_is_the_end),
    };

    return cmocka_run_group_tests(tests, up, down);
}
