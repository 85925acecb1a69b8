/* SPDX-License-Identifier: MIT */
/* A stream with the client that decodes what it gives, and a clock for pauses. */
#ifndef TERSE_TEST_PEER_H
#define TERSE_TEST_PEER_H

#include "bodies.h"

/* The default of stream.park. */
#define PARK_MS 5000

/* Tells the pool that so much time has passed. */
void tick(struct rig *rig, uint64_t ms);
uint64_t tick_now(void);
/* All that can be parked is, and nothing lies idle any more. */
void long_pause(struct rig *rig);
/* Whether the streams of a coding are parked. */
bool is_parkable(int coding);
/* How many streams are. */
uint64_t parked(struct rig *rig);

/* A stream and its client, who has decoded plain of it so far. */
struct peer {
    terse_stream *stream;
    struct foreign *client;
    struct sink plain;
    int coding;
};

struct peer peer_new(struct rig *rig, const terse_policy *policy, int coding, int64_t length);
void peer_free(struct rig *rig, struct peer *peer);
/* Bytes on their way to the client; how many coded ones there were. */
size_t peer_run(struct peer *peer, int32_t operation, const void *ptr, size_t len, struct cut cut);
/* Gives the client what has been coded since the last time. */
void peer_take(struct peer *peer, const struct sink *coded, size_t *fed);
/* The coded body has ended, and is what is expected. */
void peer_complete(struct peer *peer, const void *expected, size_t len);

#endif
