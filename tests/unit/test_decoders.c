/* SPDX-License-Identifier: MIT */
/* Decoders, fed with what other encoders make, and with what nobody should. */
#include "bodies.h"

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

static void other_encoders(void **state)
{
    static const size_t lengths[] = {1, 2, 300, 4095, 65536};
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (enum body kind = TEXT; kind <= ZEROS; kind++) {
                uint8_t *body = body_new(kind, lengths[i]);
                struct sink coded = {0};

                foreign_encode(*c, body, lengths[i], &coded);
                assert_decoded(rig, *c, &coded, body, lengths[i]);
                sink_free(&coded);
                free(body);
            }
}

/* All output that the input allows has been given when RUN says OK, and FINISH needs no room. */
static void output_is_not_held_back(void **state)
{
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 200000);

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        struct sink coded = {0}, plain = {0};
        terse_in in = {NULL, 0, 0};
        terse_out out = {NULL, 0, 0};

        foreign_encode(*c, body, 200000, &coded);
        assert_int_equal(
            pump(stream, TERSE_RUN, coded.ptr, coded.len, (struct cut){0, 777}, &plain), TERSE_OK);
        assert_bytes(&plain, body, 200000);
        assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL), TERSE_END);
        in = (terse_in){body, 100, 0};
        assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &in, &out, NULL), TERSE_END);
        assert_int_equal(in.pos, 0);
        rig->api->stream_free(stream);
        sink_free(&coded);
        sink_free(&plain);
    }
    free(body);
}

/* The same in the middle of a body: what a flush made decodable comes out, in however small rooms.
 */
static void flushed_part_comes_out(void **state)
{
    static const size_t rooms[] = {1, 64, 1000, 32768, 90000};
    struct rig *rig = *state;
    uint8_t *body = body_new(TEXT, 90000);

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *encoder = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        struct sink coded = {0};

        assert_int_equal(pump(encoder, TERSE_FLUSH, body, 90000, cuts[0], &coded), TERSE_OK);
        rig->api->stream_free(encoder);
        for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
            terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
            struct sink plain = {0};

            assert_int_equal(
                pump(stream, TERSE_RUN, coded.ptr, coded.len, (struct cut){0, rooms[i]}, &plain),
                TERSE_OK);
            assert_bytes(&plain, body, 90000);
            assert_int_equal(pump(stream, TERSE_FINISH, NULL, 0, cuts[0], &plain), TERSE_E_DATA);
            rig->api->stream_free(stream);
            sink_free(&plain);
        }
        sink_free(&coded);
    }
    free(body);
}

static void no_room_is_no_error(void **state)
{
    struct rig *rig = *state;
    struct sink coded = {0};
    uint8_t room[600], body[500];

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        terse_in in;
        terse_out out = {room, 0, 0};

        coded.len = 0;
        foreign_encode(*c, body, sizeof body, &coded);
        in = (terse_in){coded.ptr, coded.len, 0};
        for (int i = 0; i < 100; i++)
            assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL),
                             TERSE_MORE);
        out.len = sizeof room;
        for (int i = 0; i < 100; i++) {
            terse_in none = {NULL, 0, 0};

            if (in.pos == in.len)
                assert_int_equal(rig->api->stream_run(stream, TERSE_RUN, &none, &out, NULL),
                                 TERSE_OK);
        }
        assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL), TERSE_END);
        assert_int_equal(out.pos, sizeof body);
        assert_memory_equal(room, body, sizeof body);
        rig->api->stream_free(stream);
    }
    sink_free(&coded);
}

/* ---- bodies that are not right ----------------------------------------------------------- */

static void cut_short_at_each_byte(void **state)
{
    struct rig *rig = *state;
    uint8_t body[700];
    struct sink coded = {0};

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        coded.len = 0;
        foreign_encode(*c, body, sizeof body, &coded);
        for (size_t n = 0; n < coded.len; n++)
            assert_refused(rig, *c, coded.ptr, n);
    }
    sink_free(&coded);
}

static void trailing_bytes(void **state)
{
    static const char *const tails[] = {"\0", "A", "\n", "\x1f", "\x1f\x8b", "\x28", "trailing"};
    struct rig *rig = *state;
    uint8_t body[700];

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
            struct sink coded = {0};

            foreign_encode(*c, body, sizeof body, &coded);
            sink_add(&coded, tails[i], i ? strlen(tails[i]) : 1);
            assert_refused(rig, *c, coded.ptr, coded.len);
            sink_free(&coded);
        }
}

/* One bit changed: an error, or where the format has no checksum another body, and never the end
 * of a body that a checksum covers.  Each case ends. */
static void flipped_bits(void **state)
{
    struct rig *rig = *state;
    uint8_t body[400];
    struct sink coded = {0}, plain = {0};

    body_fill(TEXT, body, sizeof body);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        coded.len = 0;
        foreign_encode(*c, body, sizeof body, &coded);
        for (size_t bit = 0; bit < coded.len * 8; bit++) {
            terse_status status;

            coded.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
            status = decode(rig, *c, coded.ptr, coded.len, cuts[bit % N_CUTS], &plain);
            assert_true(status == TERSE_END || status == TERSE_E_DATA);
            if (status == TERSE_END && (*c == CODING_GZIP || *c == CODING_DEFLATE))
                assert_bytes(&plain, body, sizeof body);
            coded.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_sound(rig, *c);
    }
    sink_free(&coded);
    sink_free(&plain);
}

static void not_in_its_coding(void **state)
{
    struct rig *rig = *state;
    char text[] = "? is how this text starts, and it goes on for a while in plain words.\n";

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        for (char first = ' '; first <= '~'; first++) {
            text[0] = first;
            assert_refused(rig, *c, text, sizeof text - 1);
        }
        for (const int *other = codings(); *other != CODING_NONE; other++) {
            struct sink coded = {0};

            foreign_encode(*other, text, sizeof text, &coded);
            if (*other != *c)
                assert_refused(rig, *c, coded.ptr, coded.len);
            sink_free(&coded);
        }
    }
}

/* An error stays one, and the decoder is the pool's again afterwards. */
static void errors_stay(void **state)
{
    struct rig *rig = *state;
    uint8_t room[100];

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);

        for (int i = 0; i < 3; i++) {
            terse_in in = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10, 0};
            terse_out out = {room, sizeof room, 0};

            assert_int_equal(rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL),
                             TERSE_E_DATA);
            if (i)
                assert_int_equal(in.pos, 0);
        }
        rig->api->stream_free(stream);
        assert_sound(rig, *c);
    }
}

/* 10 MB of zeros: no call gives more than there is room for, nor takes long to say so. */
static void bomb(void **state)
{
    struct rig *rig = *state;
    size_t len = 10 << 20;
    uint8_t *body = body_new(ZEROS, len), room[1000];

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        struct sink coded = {0};
        size_t given = 0, calls = 0;
        terse_status status;
        terse_in in;

        foreign_encode(*c, body, len, &coded);
        in = (terse_in){coded.ptr, coded.len, 0};
        do {
            terse_out out = {room, sizeof room, 0};

            status = rig->api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
            given += out.pos;
            calls++;
        } while (status == TERSE_MORE);
        assert_int_equal(status, TERSE_END);
        assert_int_equal(given, len);
        assert_true(calls >= len / sizeof room && calls <= len / sizeof room + 200);
        rig->api->stream_free(stream);
        sink_free(&coded);
    }
    free(body);
}

static void empty_bodies(void **state)
{
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink coded = {0};

        foreign_encode(*c, "", 0, &coded);
        assert_decoded(*state, *c, &coded, "", 0);
        assert_refused(*state, *c, "", 0); /* nothing at all is in no coding */
        if (*c == CODING_BR)
            for (int i = 0; i < 2; i++) { /* RFC 7932 section 9.1: empty in one byte */
                coded.len = 0;
                sink_add(&coded, i ? "\x06" : "\x3b", 1);
                assert_decoded(*state, *c, &coded, "", 0);
            }
        sink_free(&coded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_encoders),
        cmocka_unit_test(output_is_not_held_back),
        cmocka_unit_test(flushed_part_comes_out),
        cmocka_unit_test(no_room_is_no_error),
        cmocka_unit_test(cut_short_at_each_byte),
        cmocka_unit_test(trailing_bytes),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(not_in_its_coding),
        cmocka_unit_test(errors_stay),
        cmocka_unit_test(bomb),
        cmocka_unit_test(empty_bodies),
    };

    return cmocka_run_group_tests(tests, up, down);
}
