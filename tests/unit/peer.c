/* SPDX-License-Identifier: MIT */
#include "peer.h"

static uint64_t now = 1000000;

uint64_t tick_now(void)
{
    return now;
}

void tick(struct rig *rig, uint64_t ms)
{
    rig->api->pool_tick(rig->pool, now += ms);
}

void long_pause(struct rig *rig)
{
    for (int i = 0; i < 40; i++)
        tick(rig, 1000);
}

bool is_parkable(int coding)
{
    return coding != CODING_BR;
}

uint64_t parked(struct rig *rig)
{
    return counter(rig, "streams.parked");
}

struct peer peer_new(struct rig *rig, const terse_policy *policy, int coding, int64_t length)
{
    struct peer peer = {.stream = open_stream(rig, policy, TERSE_ENCODE, coding, length),
                        .client = foreign_new(coding),
                        .coding = coding};

    foreign_expect_frames(peer.client);
    return peer;
}

void peer_free(struct rig *rig, struct peer *peer)
{
    rig->api->stream_free(peer->stream);
    foreign_free(peer->client);
    sink_free(&peer->plain);
}

size_t peer_run(struct peer *peer, int32_t operation, const void *ptr, size_t len, struct cut cut)
{
    struct sink coded = {0};
    size_t n;

    assert_int_equal(pump(peer->stream, operation, ptr, len, cut, &coded),
                     operation == TERSE_FINISH ? TERSE_END : TERSE_OK);
    assert_true(foreign_feed(peer->client, coded.ptr, coded.len, &peer->plain));
    n = coded.len;
    sink_free(&coded);
    return n;
}

void peer_complete(struct peer *peer, const void *expected, size_t len)
{
    assert_true(foreign_complete(peer->client));
    assert_bytes(&peer->plain, expected, len);
}

void peer_take(struct peer *peer, const struct sink *coded, size_t *fed)
{
    if (coded->len > *fed)
        assert_true(foreign_feed(peer->client, coded->ptr + *fed, coded->len - *fed, &peer->plain));
    *fed = coded->len;
}
