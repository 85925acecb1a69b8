/* SPDX-License-Identifier: MIT */
/* A body that is decoded and, mostly, coded anew: decoders, and an encoder behind them. */
#ifndef TERSE_RECODING_H
#define TERSE_RECODING_H

#include <terse.h>
#include "chain.h"
#include "coder.h"

struct recoding;

/* NULL: no memory.  chain belongs to the caller. */
struct recoding *recoding_open(terse_pool *pool, struct chain *chain);
/* As stream_run of an encoder.  TERSE_E_DATA and E_NOMEM are the decoders'. */
terse_status recoding_run(struct recoding *recoding, terse_stream *stream, int32_t operation,
                          struct coder_io *io);
void recoding_close(terse_pool *pool, struct recoding *recoding);

#endif
