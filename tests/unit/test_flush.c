/* SPDX-License-Identifier: MIT */
/* When a stream is flushed: by the settings, whatever the host asks for. */
#include "bodies.h"

#define PIECES 12
#define PIECE 700

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

/* One piece until it is no longer MORE; the last report. */
static terse_report give_piece(struct rig *rig, terse_stream *stream, int32_t operation,
                               const uint8_t *ptr, size_t len, size_t room, struct sink *sink)
{
    terse_report report = {.struct_size = sizeof report, .flush_ms = 77, .unflushed = 77};
    terse_in in = {ptr, len, 0};
    terse_status status;
    uint8_t place[4096];

    do {
        terse_out out = {place, room, 0};

        status = rig->api->stream_run(stream, operation, &in, &out, &report);
        sink_add(sink, place, out.pos);
    } while (status == TERSE_MORE);
    assert_int_equal(status, operation == TERSE_FINISH ? TERSE_END : TERSE_OK);
    assert_int_equal(in.pos, len);
    return report;
}

static void finish(struct rig *rig, terse_stream *stream, int coding, const uint8_t *body,
                   struct sink *coded)
{
    give_piece(rig, stream, TERSE_FINISH, NULL, 0, 4096, coded);
    assert_decodes(coding, coded, body, PIECES * PIECE);
    rig->api->stream_free(stream);
}

/* ---- each ------------------------------------------------------------------------------------ */

/* After each piece all of it can be decoded, and a run without input gives nothing. */
static void each_piece(struct rig *rig, const terse_policy *policy, int coding, size_t room)
{
    terse_stream *stream = open_stream(rig, policy, TERSE_ENCODE, coding, -1);
    uint8_t *body = body_new(TEXT, PIECES * PIECE);
    struct foreign *f = foreign_new(coding);
    struct sink coded = {0}, plain = {0};
    size_t fed = 0;

    for (size_t done = 0; done < PIECES * PIECE; done += PIECE) {
        terse_report report = give_piece(rig, stream, TERSE_RUN, body + done, PIECE, room, &coded);

        assert_int_equal(report.unflushed, 0);
        assert_int_equal(report.flush_ms, 0);
        assert_true(foreign_feed(f, coded.ptr + fed, coded.len - fed, &plain));
        fed = coded.len;
        assert_bytes(&plain, body, done + PIECE);
        for (int32_t operation = TERSE_RUN; operation <= TERSE_FLUSH; operation++)
            give_piece(rig, stream, operation, NULL, 0, room, &coded);
        assert_int_equal(coded.len, fed);
    }
    finish(rig, stream, coding, body, &coded);
    foreign_free(f);
    sink_free(&coded);
    sink_free(&plain);
    free(body);
}

static void each_piece_is_flushed(void **state)
{
    struct rig *rig = *state;
    terse_policy *policy = policy_with(rig, "flush", "each");

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        each_piece(rig, policy, *c, 4096);
        each_piece(rig, policy, *c, 1);
        each_piece(rig, policy, *c, 13);
    }
    rig->api->policy_unref(policy);
}

/* ---- none ------------------------------------------------------------------------------------ */

/* A body whose pieces are given by that operation, and what the reports say between. */
static void code_pieces(struct rig *rig, const terse_policy *policy, int coding, int32_t operation,
                        bool flushes, struct sink *coded)
{
    terse_stream *stream = open_stream(rig, policy, TERSE_ENCODE, coding, -1);
    uint8_t *body = body_new(TEXT, PIECES * PIECE);

    for (size_t done = 0; done < PIECES * PIECE; done += PIECE) {
        terse_report report = give_piece(rig, stream, operation, body + done, PIECE, 4096, coded);

        assert_int_equal(report.flush_ms, 0);
        assert_int_equal(report.unflushed, flushes ? 0 : done + PIECE);
        give_piece(rig, stream, operation, NULL, 0, 4096, coded);
    }
    finish(rig, stream, coding, body, coded);
    free(body);
}

/* A flush that is asked for is passed over: the bytes are those of a body that had none. */
static void nothing_is_flushed(void **state)
{
    struct rig *rig = *state;
    terse_policy *none = policy_with(rig, "flush", "none");

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink run = {0}, flushed = {0}, asked = {0};

        code_pieces(rig, none, *c, TERSE_RUN, false, &run);
        code_pieces(rig, none, *c, TERSE_FLUSH, false, &asked);
        code_pieces(rig, rig->policy, *c, TERSE_FLUSH, true, &flushed);
        assert_bytes(&asked, run.ptr, run.len);
        assert_true(flushed.len > run.len);
        sink_free(&run);
        sink_free(&asked);
        sink_free(&flushed);
    }
    rig->api->policy_unref(none);
}

/* ---- auto ------------------------------------------------------------------------------------ */

static void delay_is_the_settings(void **state)
{
    struct rig *rig = *state;
    terse_policy *policy = policy_with(rig, "flush.delay", "3s");

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, policy, TERSE_ENCODE, *c, -1);
        struct sink coded = {0};
        terse_report report;

        report = give_piece(rig, stream, TERSE_FLUSH, NULL, 0, 4096, &coded);
        assert_int_equal(report.flush_ms, 0);
        for (int again = 0; again < 3; again++) {
            report = give_piece(rig, stream, TERSE_RUN, (const uint8_t *)"event", 5, 4096, &coded);
            assert_int_equal(report.unflushed, 5);
            assert_int_equal(report.flush_ms, 3000);
            report = give_piece(rig, stream, TERSE_FLUSH, NULL, 0, 4096, &coded);
            assert_int_equal(report.unflushed, 0);
            assert_int_equal(report.flush_ms, 0);
        }
        rig->api->stream_free(stream);
        sink_free(&coded);
    }
    rig->api->policy_unref(policy);
}

/* Decoders have nothing that could be flushed. */
static void decoders_do_not_care(void **state)
{
    static const char *const modes[] = {"each", "none"};
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 5000);

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < 2; i++) {
            terse_policy *policy = policy_with(rig, "flush", modes[i]);
            terse_stream *stream = open_stream(rig, policy, TERSE_DECODE, *c, -1);
            struct sink coded = {0}, plain = {0};
            terse_report report;

            foreign_encode(*c, body, 5000, &coded);
            report = give_piece(rig, stream, TERSE_RUN, coded.ptr, coded.len - 5, 4096, &plain);
            assert_int_equal(report.unflushed | report.flush_ms, 0);
            give_piece(rig, stream, TERSE_FLUSH, coded.ptr + coded.len - 5, 5, 4096, &plain);
            give_piece(rig, stream, TERSE_FINISH, NULL, 0, 4096, &plain);
            assert_bytes(&plain, body, 5000);
            rig->api->stream_free(stream);
            rig->api->policy_unref(policy);
            sink_free(&coded);
            sink_free(&plain);
        }
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_piece_is_flushed, up, down),
        cmocka_unit_test_setup_teardown(nothing_is_flushed, up, down),
        cmocka_unit_test_setup_teardown(delay_is_the_settings, up, down),
        cmocka_unit_test_setup_teardown(decoders_do_not_care, up, down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
