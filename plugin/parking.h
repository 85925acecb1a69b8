/* SPDX-License-Identifier: MIT */
/* Streams whose source has paused give their coders back, and get others when it goes on. */
#ifndef TERSE_PARKING_H
#define TERSE_PARKING_H

#include <stdbool.h>

#include <terse.h>
#include "coder.h"

/* Parks the streams that have paused for as long as their settings say, some of them in each tick:
 * the others' turn comes with the next ones. */
void streams_tick(terse_pool *pool, uint64_t now_ms);

/* Parks a stream, however short its pause; false when it cannot be parked now: it is no encoder, its
 * coding has no way to, something is unflushed, or an operation is half done. */
bool stream_park(terse_stream *stream);

/* Whether the stream has no coder, or bytes of its parking to write before its coder's. */
bool stream_is_parked(const terse_stream *stream);
/* The first part of a run of such a stream.  OK: it has a coder, which is to go on with the
 * operation.  Any other status is the answer of the run; *done: so is OK. */
terse_status stream_wake(terse_stream *stream, int32_t operation, struct coder_io *io, bool *done);

#endif
