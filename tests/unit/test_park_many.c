/* SPDX-License-Identifier: MIT */
/* Many streams that pause, and streams that pause anywhere. */
#include "peer.h"

#include "parking.h"

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

/* ---- many ------------------------------------------------------------------------------------ */

#define MANY 1000
#define BATCH 100

/* pool.memory has room for a quarter of them with their coders. */
static void many_events(struct rig *rig, struct peer *peers, int coding, const char *event,
                        size_t seen)
{
    for (int i = 0; i < MANY; i++) {
        if (seen == strlen(event))
            peers[i] = peer_new(rig, rig->policy, coding, -1);
        peer_run(&peers[i], TERSE_FLUSH, event, strlen(event), whole);
        assert_int_equal(peers[i].plain.len, seen);
        if (i % BATCH == BATCH - 1)
            long_pause(rig);
    }
}

static void a_thousand(struct rig *rig, int coding)
{
    struct peer *peers = calloc(MANY, sizeof *peers);
    uint64_t held;

    assert_non_null(peers);
    long_pause(rig);
    held = counter(rig, "memory.held");
    many_events(rig, peers, coding, "data: first\n\n", 13);
    assert_int_equal(parked(rig), MANY);
    assert_int_equal(counter(rig, "streams.live"), MANY);
    held = counter(rig, "memory.held") - held;
    print_message("%s: %u bytes for each parked stream\n", coding_name(coding),
                  (unsigned)(held / MANY));
    assert_true(held / MANY < 1024);
    many_events(rig, peers, coding, "data: next\n\n", 25);
    assert_int_equal(parked(rig), MANY);
    for (int i = 0; i < MANY; i++) {
        peer_run(&peers[i], TERSE_FINISH, NULL, 0, whole);
        peer_complete(&peers[i], "data: first\n\ndata: next\n\n", 25);
        peer_free(rig, &peers[i]);
    }
    free(peers);
}

static void a_thousand_parked(void **state)
{
    for (const int *c = codings(); *c != CODING_NONE; c++)
        if (*c == CODING_GZIP)
            a_thousand(*state, *c);
}

/* So many at once are parked by and by, in the order in which they came: a tick is not to hold the
 * loop up, and each one's turn comes. */
static void in_turns(void **state)
{
    struct rig *rig = *state;
    int coding = codings()[0];
    terse_stream *streams[100];

    if (!is_parkable(coding))
        return;
    for (int i = 0; i < 100; i++)
        streams[i] = open_stream(rig, rig->policy, TERSE_ENCODE, coding, -1);
    tick(rig, 1);
    tick(rig, PARK_MS);
    assert_in_range(parked(rig), 1, 99);
    assert_false(stream_park(streams[0])); /* it is parked already */
    assert_true(stream_park(streams[99]));
    long_pause(rig);
    assert_int_equal(parked(rig), 100);
    for (int i = 0; i < 100; i++)
        rig->api->stream_free(streams[i]);
}

/* ---- any order ------------------------------------------------------------------------------- */

static uint32_t dice(uint32_t sides)
{
    static uint32_t x = 88172645;

    x ^= x << 13; /* xorshift: the same each time */
    x ^= x >> 17;
    x ^= x << 5;
    return x % sides;
}

/* Runs, flushes and pauses of any length, in any order and any room: after each flush the client
 * has all, and the whole is the body. */
static void random_body(struct rig *rig, const terse_policy *policy, int coding)
{
    size_t len = dice(4) ? dice(60000) : dice(20), done = 0;
    uint8_t *body = body_new(dice(3) ? TEXT : NOISE, len);
    struct peer peer = peer_new(rig, policy, coding, dice(2) ? -1 : (int64_t)len);
    struct sink coded = {0}, plain = {0};
    size_t fed = 0;

    while (done < len || dice(3)) {
        size_t n = dice(dice(3) ? 300 : 20000);
        struct cut cut = {dice(4) ? 0 : 1 + dice(500), dice(3) ? 0 : 1 + dice(90)};
        int32_t operation = dice(2) ? TERSE_FLUSH : TERSE_RUN;

        n = n < len - done ? n : len - done;
        assert_int_equal(pump(peer.stream, operation, body + done, n, cut, &coded), TERSE_OK);
        done += n;
        peer_take(&peer, &coded, &fed);
        if (operation == TERSE_FLUSH)
            assert_bytes(&peer.plain, body, done);
        for (uint32_t ticks = dice(4); ticks; ticks--)
            tick(rig, dice(PARK_MS * 2));
    }
    assert_int_equal(pump(peer.stream, TERSE_FINISH, NULL, 0,
                          (struct cut){0, dice(2) ? 0 : 1 + dice(9)}, &coded),
                     TERSE_END);
    peer_take(&peer, &coded, &fed);
    peer_complete(&peer, body, len);
    /* and the plugin's own decoder takes it */
    assert_int_equal(
        decode(rig, coding, coded.ptr, coded.len, (struct cut){1 + dice(900), 0}, &plain),
        TERSE_END);
    assert_bytes(&plain, body, len);
    peer_free(rig, &peer);
    sink_free(&coded);
    sink_free(&plain);
    free(body);
}

/* Of that level, and with as many frames as it takes. */
static terse_policy *policy_of_frames(struct rig *rig, int coding, int level)
{
    terse_policy *level_only = policy_of_level(rig, coding, level), *policy;
    const terse_policy *overlays[] = {level_only};

    assert_int_equal(rig->api->policy_derive(rig->policy, overlays, 1, &policy), TERSE_OK);
    rig->api->policy_unref(level_only);
    return policy;
}

static void any_order(void **state)
{
    struct rig *rig = *state;

    for (const int *c = codings(); *c != CODING_NONE; c++) {
        uint64_t resumed = counter(rig, "streams.resumed");
        uint32_t levels;
        int low, high;

        level_range(*c, &low, &high);
        levels = (uint32_t)((high < 8 ? high : 8) - low + 1); /* above they are slow */
        for (int i = 0; i < 120; i++) {
            terse_policy *policy = policy_of_frames(rig, *c, low + (int)dice(levels));

            random_body(rig, policy, *c);
            rig->api->policy_unref(policy);
        }
        if (is_parkable(*c))
            assert_true(counter(rig, "streams.resumed") > resumed + 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_thousand_parked, up, down),
        cmocka_unit_test_setup_teardown(in_turns, up, down),
        cmocka_unit_test_setup_teardown(any_order, up, down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
