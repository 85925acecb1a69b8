/* SPDX-License-Identifier: MIT */
/* Streams whose source pauses give their coder back, and the body stays one body. */
#include "peer.h"

#include "exchange.h"
#include "parking.h"
#include "stream.h"

static const struct cut whole = {0, 0};

static int up(void **state)
{
    static const char *const settings[] = {"zstd.frames=several", NULL};
    static struct rig rig;

    rig_up(&rig, settings);
    tick(&rig, 0);
    *state = &rig;
    return 0;
}

static int down(void **state)
{
    struct rig *rig = *state;

    assert_int_equal(counter(rig, "streams.live"), 0);
    assert_int_equal(counter(rig, "streams.parked"), 0);
    rig_down(rig);
    return 0;
}

/* ---- when ------------------------------------------------------------------------------------ */

static void after_the_pause(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct peer peer = peer_new(rig, rig->policy, *c, -1);

        peer_run(&peer, TERSE_FLUSH, "one ", 4, whole);
        tick(rig, 999999); /* it may have run just before */
        tick(rig, PARK_MS - 1);
        assert_int_equal(parked(rig), 0);
        peer_run(&peer, TERSE_FLUSH, "two ", 4, whole); /* the pause begins anew */
        tick(rig, 1);
        tick(rig, PARK_MS - 1);
        assert_int_equal(parked(rig), 0);
        rig->api->pool_tick(rig->pool, tick_now() - 100000); /* the clock is set back */
        rig->api->pool_tick(rig->pool, tick_now() - 100000 + PARK_MS - 1);
        assert_int_equal(parked(rig), 0);
        rig->api->pool_tick(rig->pool, tick_now() - 100000 + PARK_MS);
        assert_int_equal(parked(rig), is_parkable(*c));
        assert_int_equal(counter(rig, "streams.live"), 1);
        peer_run(&peer, TERSE_FINISH, "three", 5, whole);
        assert_int_equal(parked(rig), 0);
        peer_complete(&peer, "one two three", 13);
        peer_free(rig, &peer);
    }
}

static void as_the_settings_say(void **state)
{
    struct rig *rig = *state;
    terse_policy *off = policy_with(rig, "stream.park", "0");
    terse_policy *soon = policy_with(rig, "stream.park", "10ms");
    int coding = codings()[0]; /* gzip, where there is one */
    struct peer never = peer_new(rig, off, coding, -1), early = peer_new(rig, soon, coding, -1);
    uint64_t reused;

    rig->api->policy_unref(off); /* a stream may outlive its policy */
    rig->api->policy_unref(soon);
    peer_run(&never, TERSE_FLUSH, "abc", 3, whole);
    peer_run(&early, TERSE_FLUSH, "abc", 3, whole);
    tick(rig, 1);
    tick(rig, 9);
    assert_int_equal(parked(rig), 0);
    tick(rig, 1);
    assert_int_equal(parked(rig), is_parkable(coding));
    reused = counter(rig, "streams.reused");
    rig->api->stream_free(open_stream(rig, rig->policy, TERSE_ENCODE, coding, -1));
    assert_int_equal(counter(rig, "streams.reused"), reused + is_parkable(coding));
    long_pause(rig);
    assert_int_equal(parked(rig), is_parkable(coding));
    peer_run(&never, TERSE_FINISH, "d", 1, whole);
    peer_run(&early, TERSE_FINISH, "d", 1, whole);
    peer_complete(&never, "abcd", 4);
    peer_complete(&early, "abcd", 4);
    peer_free(rig, &never);
    peer_free(rig, &early);
}

/* Clients that read one frame only are the reason why zstd has to be asked for. */
static void zstd_stays_in_one_frame(void **state)
{
    struct rig *rig = *state;
    terse_policy *policy = policy_with(rig, "stream.park", "1s");

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct peer peer = peer_new(rig, policy, *c, -1);
        bool parks = is_parkable(*c) && *c != CODING_ZSTD;

        peer_run(&peer, TERSE_FLUSH, "event", 5, whole);
        long_pause(rig);
        assert_int_equal(parked(rig), parks);
        assert_false(stream_park(peer.stream));
        peer_run(&peer, TERSE_FINISH, " again", 6, whole);
        peer_complete(&peer, "event again", 11);
        peer_free(rig, &peer);
    }
    rig->api->policy_unref(policy);
}

/* One call, with so much room, that leaves something behind. */
static void leave(struct peer *peer, int32_t operation, const void *ptr, size_t len, size_t room,
                  terse_status expected)
{
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    terse_in in = {ptr, len, 0};
    uint8_t place[64];

    while (in.pos < in.len || !len) {
        terse_out out = {place, room, 0};

        assert_int_equal(api->stream_run(peer->stream, operation, &in, &out, NULL), expected);
        assert_true(foreign_feed(peer->client, place, out.pos, &peer->plain));
        if (!len)
            break;
    }
}

/* What is not flushed, or half done, stays where it is. */
static void not_in_the_middle(void **state)
{
    struct rig *rig = *state;
    uint8_t *noise = body_new(NOISE, 50);

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct peer unflushed = peer_new(rig, rig->policy, *c, -1);
        struct peer flushing = peer_new(rig, rig->policy, *c, -1);
        struct peer finishing = peer_new(rig, rig->policy, *c, -1);
        struct peer ended = peer_new(rig, rig->policy, *c, -1);
        terse_stream *squeezed = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
        terse_stream *decoder = open_stream(rig, rig->policy, TERSE_DECODE, *c, -1);
        terse_in in = {noise, 50, 0};
        terse_out none = {NULL, 0, 0};
        bool full = rig->api->stream_run(squeezed, TERSE_RUN, &in, &none, NULL) == TERSE_MORE;

        peer_run(&unflushed, TERSE_RUN, noise, 50, whole);
        leave(&flushing, TERSE_FLUSH, noise, 50, 3, TERSE_MORE);
        leave(&finishing, TERSE_FINISH, noise, 50, 3, TERSE_MORE);
        peer_run(&ended, TERSE_FINISH, noise, 50, whole);
        long_pause(rig);
        assert_int_equal(parked(rig), 0);
        assert_false(stream_park(unflushed.stream));
        assert_false(stream_park(flushing.stream));
        assert_false(stream_park(finishing.stream));
        assert_false(stream_park(ended.stream));
        assert_false(stream_park(squeezed)); /* for want of room no byte has left */
        assert_true(full || in.pos == 50);
        assert_false(stream_park(decoder));
        peer_run(&unflushed, TERSE_FINISH, NULL, 0, whole);
        peer_run(&flushing, TERSE_FINISH, NULL, 0, whole);
        peer_run(&finishing, TERSE_FINISH, NULL, 0, whole);
        peer_complete(&unflushed, noise, 50);
        peer_complete(&flushing, noise, 50);
        peer_complete(&finishing, noise, 50);
        peer_free(rig, &unflushed);
        peer_free(rig, &flushing);
        peer_free(rig, &finishing);
        peer_free(rig, &ended);
        rig->api->stream_free(squeezed);
        rig->api->stream_free(decoder);
    }
    free(noise);
}

/* An end that has begun is half done, also when all was flushed before and a call is refused. */
static void not_in_the_middle_of_its_end(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct peer peer = peer_new(rig, rig->policy, *c, -1);
        terse_in none = {NULL, 0, 0}, more = {"more", 4, 0};
        terse_out out = {NULL, 0, 0};

        peer_run(&peer, TERSE_FLUSH, "event", 5, whole);
        assert_int_equal(rig->api->stream_run(peer.stream, TERSE_FINISH, &none, &out, NULL),
                         TERSE_MORE);
        assert_int_equal(rig->api->stream_run(peer.stream, TERSE_RUN, &more, &out, NULL),
                         TERSE_E_ARG);
        long_pause(rig);
        assert_int_equal(parked(rig), 0);
        peer_run(&peer, TERSE_FINISH, NULL, 0, whole);
        peer_complete(&peer, "event", 5);
        peer_free(rig, &peer);
    }
}

/* ---- and then -------------------------------------------------------------------------------- */

/* A call that has nothing to do does not fetch a coder. */
static void asleep_until_there_is_something(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct peer peer = peer_new(rig, rig->policy, *c, -1);
        uint64_t resumed = counter(rig, "streams.resumed");

        peer_run(&peer, TERSE_FLUSH, "event", 5, whole);
        long_pause(rig);
        assert_int_equal(peer_run(&peer, TERSE_RUN, NULL, 0, whole), 0);
        assert_int_equal(peer_run(&peer, TERSE_FLUSH, NULL, 0, whole), 0);
        assert_int_equal(peer_run(&peer, TERSE_FLUSH, NULL, 0, whole), 0);
        assert_int_equal(parked(rig), is_parkable(*c));
        assert_int_equal(counter(rig, "streams.resumed"), resumed);
        peer_run(&peer, TERSE_FLUSH, " again", 6, whole);
        assert_int_equal(counter(rig, "streams.resumed"), resumed + is_parkable(*c));
        assert_bytes(&peer.plain, "event again", 11);
        peer_run(&peer, TERSE_FINISH, NULL, 0, whole);
        peer_complete(&peer, "event again", 11);
        peer_free(rig, &peer);
    }
}

/* The end of a parked body takes no coder, and fits any room. */
static void end_of_a_parked_one(void **state)
{
    struct rig *rig = *state;
    terse_in more = {"more", 4, 0};
    terse_out none = {NULL, 0, 0};

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t room = 0; room < 12; room++) {
            struct peer peer = peer_new(rig, rig->policy, *c, -1);
            uint64_t resumed = counter(rig, "streams.resumed");

            peer_run(&peer, TERSE_FLUSH, "event", 5, whole);
            long_pause(rig);
            if (is_parkable(*c)) {
                terse_in in = {NULL, 0, 0};

                assert_int_equal(rig->api->stream_run(peer.stream, TERSE_FINISH, &in, &none, NULL),
                                 TERSE_MORE);
                assert_int_equal(rig->api->stream_run(peer.stream, TERSE_RUN, &more, &none, NULL),
                                 TERSE_E_ARG);
            }
            peer_run(&peer, TERSE_FINISH, NULL, 0, (struct cut){0, room});
            peer_run(&peer, TERSE_FINISH, NULL, 0, whole); /* it is the end for good */
            peer_complete(&peer, "event", 5);
            assert_int_equal(counter(rig, "streams.resumed"), resumed);
            peer_free(rig, &peer);
        }
}

/* Parked before its first byte, it is a new body afterwards: the same bytes, as one that was not. */
static void before_the_first_byte(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t len = 0; len < 10; len += 9) {
            terse_stream *stream = open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
            struct sink coded = {0}, other = {0};

            pump(stream, TERSE_RUN, NULL, 0, whole, &coded);
            pump(stream, TERSE_FLUSH, NULL, 0, whole, &coded);
            assert_int_equal(coded.len, 0);
            long_pause(rig);
            assert_int_equal(parked(rig), is_parkable(*c));
            assert_int_equal(pump(stream, TERSE_FINISH, "some body", len, whole, &coded),
                             TERSE_END);
            rig->api->stream_free(stream);
            code_stream(rig, rig->policy, *c, -1, "some body", len, whole, &other);
            assert_bytes(&coded, other.ptr, other.len);
            assert_decodes(*c, &coded, "some body", len);
            sink_free(&coded);
            sink_free(&other);
        }
}

static void abort_of_a_parked_one(void **state)
{
    struct rig *rig = *state;
    terse_pool *pool = rig->pool;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        terse_spec spec = {sizeof spec, TERSE_ENCODE, rig->policy, rig->x, coding_str(*c), -1};
        struct peer peer = peer_new(rig, rig->policy, *c, -1);
        terse_stream *stream;

        peer_run(&peer, TERSE_FLUSH, "event", 5, whole);
        assert_int_equal(stream_open(rig->pool, &spec, &stream), TERSE_OK);
        long_pause(rig);
        assert_int_equal(parked(rig), is_parkable(*c) * 2);
        rig->api->stream_free(peer.stream);
        rig->api->stream_free(peer.stream); /* nothing */
        stream_free(rig->x->stream);
        assert_null(rig->x->stream);
        peer.stream = NULL;
        peer_free(rig, &peer);
        assert_int_equal(counter(rig, "streams.live"), 0);
    }
    memset(rig->x, 0, sizeof *rig->x);
    /* a pool that goes takes those with it too */
    assert_int_equal(rig->api->pool_new(rig->instance, rig->policy, &rig->pool), TERSE_OK);
    for (const int *c = codings(); *c != CODING_NONE; c++)
        open_stream(rig, rig->policy, TERSE_ENCODE, *c, -1);
    long_pause(rig);
    assert_true(parked(rig) > 0 || codings()[0] == CODING_BR);
    rig->api->pool_free(rig->pool);
    rig->pool = pool;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_the_pause, up, down),
        cmocka_unit_test_setup_teardown(as_the_settings_say, up, down),
        cmocka_unit_test_setup_teardown(zstd_stays_in_one_frame, up, down),
        cmocka_unit_test_setup_teardown(not_in_the_middle, up, down),
        cmocka_unit_test_setup_teardown(not_in_the_middle_of_its_end, up, down),
        cmocka_unit_test_setup_teardown(asleep_until_there_is_something, up, down),
        cmocka_unit_test_setup_teardown(end_of_a_parked_one, up, down),
        cmocka_unit_test_setup_teardown(before_the_first_byte, up, down),
        cmocka_unit_test_setup_teardown(abort_of_a_parked_one, up, down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
