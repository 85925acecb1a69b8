/* SPDX-License-Identifier: MIT */
/* Streams: a coder on loan to one body. */
#ifndef TERSE_STREAM_H
#define TERSE_STREAM_H

#include <stdbool.h>

#include <terse.h>

/* The slots of the table.  A decoder answers END to FINISH alone: until then another gzip member
 * or zstd frame may follow, or bytes that do not belong there. */
terse_status stream_open(terse_pool *pool, const terse_spec *spec, terse_stream **out);
terse_status stream_run(terse_stream *stream, int32_t operation, terse_in *in, terse_out *out,
                        terse_report *report);
void stream_free(terse_stream *stream);

struct chain_limits;
/* A decoder of the request's body, which the exchange has from now on (chain.h). */
terse_status stream_open_chain(terse_exchange *x, const int *codings, unsigned n,
                               const struct chain_limits *limits);

/* The same for a response's body, which is coded anew in coding; CODING_IDENTITY: which is not.
 * length: of the body as it comes; -1: not known. */
terse_status stream_open_recoding(terse_exchange *x, const int *codings, unsigned n, int coding,
                                  int64_t length);

struct coder_io;
/* A run of the stream's encoder alone. */
terse_status stream_encode(terse_stream *stream, int32_t operation, struct coder_io *io);

/* Whether its decoders have found that the body is not what its coding says. */
bool stream_is_bad_origin(const terse_stream *stream);

/* Frees every stream of a pool that goes. */
void streams_clear(terse_pool *pool);

#endif
