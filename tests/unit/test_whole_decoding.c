/* SPDX-License-Identifier: MIT */
/* Bodies that are there in full go to the library that decodes them at once; what comes out of it, and
 * what is refused, is the same as when they come in pieces. */
#include "bodies.h"

#include "pool.h"

#define LEN 40000
#define ROOM ((size_t)512 << 10)

static struct rig rig;
static uint8_t *text, *room;

static int up(void **state)
{
    (void)state;
    rig_up(&rig, NULL);
    text = body_new(TEXT, ROOM);
    room = malloc(ROOM);
    assert_non_null(room);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_down(&rig);
    free(text);
    free(room);
    return 0;
}

/* In one call, which libdeflate may answer; *n: what it gave. */
static terse_status at_once(int coding, const struct sink *coded, size_t space, size_t *n)
{
    terse_stream *stream;
    terse_in in = {coded->ptr, coded->len, 0};
    terse_out out = {room, space, 0};
    terse_status status;

    rig.api->pool_free(rig.pool);
    assert_int_equal(rig.api->pool_new(rig.instance, rig.policy, &rig.pool), TERSE_OK);
    stream = open_stream(&rig, rig.policy, TERSE_DECODE, coding, -1);
    status = rig.api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
    *n = out.pos;
    while (status == TERSE_MORE) { /* for the answer alone */
        out.pos = 0;
        status = rig.api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
    }
    rig.api->stream_free(stream);
    return status;
}

static void assert_whole(int coding, const struct sink *coded, size_t len)
{
    size_t n;

    assert_int_equal(at_once(coding, coded, ROOM, &n), TERSE_END);
    assert_int_equal(n, len);
    assert_memory_equal(room, text, len);
}

static void short_ones_are_decoded_at_once(void **state)
{
    static const size_t lengths[] = {1, 300, LEN, 130000};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct sink gzip = {0}, deflate = {0};

        foreign_encode(CODING_GZIP, text, lengths[i], &gzip);
        assert_whole(CODING_GZIP, &gzip, lengths[i]);
        foreign_encode(CODING_DEFLATE, text, lengths[i], &deflate);
        assert_whole(CODING_DEFLATE, &deflate, lengths[i]);
        sink_free(&gzip);
        sink_free(&deflate);
    }
}

/* Room for less than all of it: zlib gives what fits. */
static void without_room(void **state)
{
    struct sink coded = {0};
    size_t n;

    (void)state;
    foreign_encode(CODING_GZIP, text, LEN, &coded);
    assert_int_equal(at_once(CODING_GZIP, &coded, LEN - 1, &n), TERSE_END);
    assert_int_equal(n, LEN - 1);
    coded.len = 0;
    foreign_encode(CODING_DEFLATE, text, LEN, &coded);
    assert_int_equal(at_once(CODING_DEFLATE, &coded, LEN - 1, &n), TERSE_END);
    assert_int_equal(n, LEN - 1);
    sink_free(&coded);
}

/* In pieces, by zlib alone. */
static terse_status in_pieces(int coding, const struct sink *coded, struct sink *plain)
{
    terse_stream *stream = open_stream(&rig, rig.policy, TERSE_DECODE, coding, -1);
    terse_status status;

    plain->len = 0;
    status = pump(stream, TERSE_FINISH, coded->ptr, coded->len, (struct cut){9, 0}, plain);
    rig.api->stream_free(stream);
    return status;
}

static terse_status assert_same(int coding, const struct sink *coded)
{
    struct sink plain = {0};
    size_t n;
    terse_status status = at_once(coding, coded, ROOM, &n);

    assert_int_equal(in_pieces(coding, coded, &plain), status);
    if (status == TERSE_END) {
        assert_int_equal(plain.len, n);
        assert_memory_equal(plain.ptr, room, n);
    }
    sink_free(&plain);
    return status;
}

static void every_bit_changed(void **state)
{
    (void)state;
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink coded = {0};

        foreign_encode(*c, text, 400, &coded);
        for (size_t bit = 0; bit < coded.len * 8; bit++) {
            coded.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_same(*c, &coded);
            coded.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        for (size_t len = coded.len; len; len--) {
            struct sink cut = {coded.ptr, len, len};

            assert_int_equal(assert_same(*c, &cut), len == coded.len ? TERSE_END : TERSE_E_DATA);
        }
        sink_add(&coded, "x", 1);
        assert_int_equal(assert_same(*c, &coded), TERSE_E_DATA);
        sink_free(&coded);
    }
}

#if HAVE_ZLIB
/* The last member's length is none of the whole. */
static void several_members(void **state)
{
    static const size_t parts[][2] = {{300, 300}, {300, 0}, {0, 300}, {20000, 9}, {9, 20000}};

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct sink coded = {0};

        foreign_encode(CODING_GZIP, text, parts[i][0], &coded);
        foreign_encode(CODING_GZIP, text + parts[i][0], parts[i][1], &coded);
        assert_same(CODING_GZIP, &coded);
        assert_decoded(&rig, CODING_GZIP, &coded, text, parts[i][0] + parts[i][1]);
        sink_free(&coded);
    }
}

/* A body with a header that has more in it (RFC 1952 section 2.3.1). */
static struct sink headed(uint8_t flags, const char *fields, size_t len)
{
    struct sink plain = {0}, made = {0};

    foreign_encode(CODING_GZIP, text, 500, &plain);
    plain.ptr[3] = flags;
    sink_add(&made, plain.ptr, 10);
    sink_add(&made, fields, len);
    sink_add(&made, plain.ptr + 10, plain.len - 10);
    sink_free(&plain);
    return made;
}

static void headers(void **state)
{
    static const struct {
        uint8_t flags;
        uint8_t len;
        const char *fields;
        bool right;
    } rows
        [] =
            {
                {0x01, 0, "", true},
                {0x08, 5, "name", true},
                {0x18, 13, "name\0comment", true},
                {0x04, 6, "\4\0abcd", true},
                {0x02, 2, "xx", false}, /* a checksum of the header, and wrong */
                {0x20, 0, "", false},   /* a flag that is reserved */
                {0x08, 4, "name", false},
            };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sink coded = headed(rows[i].flags, rows[i].fields, rows[i].len);

        if (rows[i].right)
            assert_whole(CODING_GZIP, &coded, 500);
        else
            assert_int_equal(assert_same(CODING_GZIP, &coded), TERSE_E_DATA);
        sink_free(&coded);
    }
}

/* A length that is not the body's: as zlib has it, an error. */
static void lengths_that_lie(void **state)
{
    static const uint8_t lies[][4] = {{0}, {1}, {255, 255, 255, 255}, {0, 0, 3}, {0xf5, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct sink coded = {0};

        foreign_encode(CODING_GZIP, text, 500, &coded);
        memcpy(coded.ptr + coded.len - 4, lies[i], 4);
        assert_int_equal(assert_same(CODING_GZIP, &coded), TERSE_E_DATA);
        sink_free(&coded);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if HAVE_ZLIB
        cmocka_unit_test(short_ones_are_decoded_at_once),
        cmocka_unit_test(without_room),
        cmocka_unit_test(several_members),
        cmocka_unit_test(headers),
        cmocka_unit_test(lengths_that_lie),
#endif
        cmocka_unit_test(every_bit_changed),
    };

    return cmocka_run_group_tests(tests, up, down);
}
