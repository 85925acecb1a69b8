/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "coding.h"
#include "errno_keep.h"
#include "pool.h"
#include "sample.h"
#include "stream.h"

/* Codecs take memory as a body grows: what they hold after so much is what they keep. */
#define PIECE (64 * 1024)
#define PIECES 8
/* Where the length is known, and large, windows and tables are the largest. */
#define LENGTH (INT64_C(1) << 30)

static terse_status feed(terse_stream *stream, const char *piece)
{
    char sink[4096];
    terse_in in = {piece, PIECE, 0};
    terse_status status;

    do {
        terse_out out = {sink, sizeof sink, 0};

        status = stream_run(stream, TERSE_RUN, &in, &out, NULL);
    } while (status == TERSE_MORE);
    return status;
}

static terse_status measure(terse_pool *pool, const terse_spec *spec, const char *piece,
                            size_t *bytes)
{
    terse_stream *stream;
    terse_status status = stream_open(pool, spec, &stream);

    if (status < 0)
        return status;
    for (int i = 0; i < PIECES && status >= 0; i++)
        status = feed(stream, piece);
    *bytes = pool_memory_held(pool) - (size_t)pool->blocks.idle_bytes -
             (size_t)pool->decoders.blocks.idle_bytes;
    stream_free(stream);
    return status;
}

terse_status measure_stream(terse_instance *instance, const terse_policy *policy, int coding,
                            size_t *bytes)
{
    const char *name = coding_name(coding);
    terse_spec spec = {sizeof spec, TERSE_ENCODE, policy, NULL, {name, strlen(name)}, LENGTH};
    int saved = errno;
    char *piece = malloc(PIECE);
    terse_pool *pool;
    terse_status status = piece ? pool_new(instance, policy, &pool) : TERSE_E_NOMEM;

    errno_keep(saved);
    if (status >= 0) {
        sample_fill(piece, PIECE);
        status = measure(pool, &spec, piece, bytes);
        pool_free(pool);
    }
    free(piece);
    return status;
}
