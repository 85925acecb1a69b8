/* SPDX-License-Identifier: MIT */
/* A body behind one or several content codings, decoded within limits (RFC 9110 section 8.4: the
 * coding that is listed last was applied last, and is taken off first). */
#ifndef TERSE_CHAIN_H
#define TERSE_CHAIN_H

#include <terse.h>
#include "coder.h"

#define CHAIN_MAX 8
/* Of one call: most input taken, and most output given, by all stages together. */
#define CHAIN_INPUT ((size_t)64 << 10)
#define CHAIN_OUTPUT ((size_t)256 << 10)

struct chain_limits {
    uint64_t length; /* most bytes that any stage gives */
    uint64_t ratio;  /* most bytes for one that came, once CHAIN_BURST is passed */
    int64_t
        aside; /* windows are set aside for a body of so many coded bytes; -1: not known; 0: none */
};
/* A short body is no bomb, however well it shrank; but what is coded already shrinks little, so of what
 * one coding hands to the next less is let pass. */
#define CHAIN_BURST (UINT64_C(1) << 20)
#define CHAIN_BURST_INSIDE (UINT64_C(64) << 10)

struct chain;

/* Decoders for n codings, in the order in which they were applied.  NULL: *status says why. */
struct chain *chain_open(terse_pool *pool, const int *codings, unsigned n,
                         const struct chain_limits *limits, terse_status *status);
/* As stream_run of a decoder.  An empty body is an empty one in any coding. */
terse_status chain_run(struct chain *chain, int32_t operation, struct coder_io *io);
/* The same; *work: most bytes that all stages may give, less what they gave. */
terse_status chain_run_within(struct chain *chain, int32_t operation, struct coder_io *io,
                              size_t *work);
/* The decoder that gives the body. */
struct coder *chain_last(const struct chain *chain);
/* So many bytes more each of its decoders may take from now on. */
void chain_bound(struct chain *chain, uint64_t more);
/* Counts its decoders' memory anew: bytes that they hold. */
uint64_t chain_count(terse_pool *pool, struct chain *chain);
void chain_close(terse_pool *pool, struct chain *chain, bool clean);

#endif
