/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <string.h>

#include "budget.h"
#include "chain.h"
#include "codec.h"
#include "coder.h"
#include "errno_keep.h"
#include "exchange.h"
#include "parking.h"
#include "policy.h"
#include "pool.h"
#include "recoding.h"
#include "stream_state.h"
#include "take.h"

static terse_stream *handle_take(terse_pool *pool)
{
    terse_stream *stream = pool->spare;

    if (stream)
        pool->spare = stream->next;
    else
        stream = blocks_take(&pool->blocks, sizeof *stream);
    return stream;
}

/* Handles are never given back while the pool lives: so a second stream_free finds a spare one,
 * and does nothing. */
static void handle_give(terse_pool *pool, terse_stream *stream)
{
    memset(stream, 0, sizeof *stream);
    stream->next = pool->spare;
    pool->spare = stream;
}

static const struct coder_kind *kind_for(const terse_spec *spec, struct coder_want *want)
{
    int coding = coding_from_name(spec->coding.ptr, spec->coding.len);

    if (coding == CODING_NONE || coding == CODING_IDENTITY)
        return NULL;
    if (spec->direction == TERSE_DECODE)
        return codec_decoder(coding, want);
    return codec_encoder(&spec->policy->settings, coding, spec->length, false, want);
}

static terse_status check_spec(const terse_spec *spec)
{
    if (spec->direction != TERSE_ENCODE && spec->direction != TERSE_DECODE)
        return TERSE_E_ARG;
    if (!spec->policy || (!spec->coding.ptr && spec->coding.len))
        return TERSE_E_ARG;
    if (!spec->policy->sealed || (spec->exchange && spec->exchange->stream))
        return TERSE_E_STATE;
    return TERSE_OK;
}

/* What the settings say of a stream while it runs: it may outlive its policy. */
static void set_up(terse_stream *stream, const struct settings *s)
{
    const struct coder_kind *kind = stream->kind;

    stream->parks = kind->park && (kind->resume || s->zstd_frames == FRAMES_SEVERAL);
    stream->flush = s->flush;
    stream->flush_delay = s->flush == FLUSH_AUTO ? s->flush_delay : 0;
    stream->park_after = s->stream_park;
}

static terse_status open_checked(terse_pool *pool, const terse_spec *spec, terse_stream **out)
{
    struct coder_want want;
    const struct coder_kind *kind = kind_for(spec, &want);
    terse_stream *stream;
    bool reused;

    if (!kind)
        return TERSE_E_CODING;
    stream = handle_take(pool);
    if (!stream)
        return TERSE_E_NOMEM;
    memset(stream, 0, sizeof *stream);
    stream->coder = budget_coder(pool, kind, &want, &reused);
    if (!stream->coder) {
        handle_give(pool, stream);
        return TERSE_E_NOMEM;
    }
    stream->pool = pool;
    stream->direction = spec->direction;
    stream->exchange = spec->exchange;
    if (stream->exchange)
        stream->exchange->stream = stream;
    stream->kind = kind;
    stream->want = want;
    set_up(stream, &spec->policy->settings);
    stream->ran = true;
    stream_link(stream);
    pool->streams_live++;
    pool->streams_opened++;
    pool->streams_reused += reused;
    *out = stream;
    return TERSE_OK;
}

static void release(terse_stream *stream);

/* A stream of decoders; it has the chain from now on. */
static terse_stream *lend_chain(terse_exchange *x, struct chain *chain)
{
    terse_pool *pool = x->pool;
    terse_stream *stream = handle_take(pool);

    if (!stream)
        return NULL;
    memset(stream, 0, sizeof *stream);
    stream->pool = pool;
    stream->direction = TERSE_DECODE;
    stream->chain = chain;
    stream->coder = chain_last(chain);
    stream->kind = stream->coder->kind;
    stream->exchange = x;
    stream->ran = true;
    stream_link(stream);
    pool->streams_live++;
    pool->streams_opened++;
    return stream;
}

static terse_status open_chain(terse_exchange *x, const int *codings, unsigned n,
                               const struct chain_limits *limits, terse_stream **out)
{
    terse_status status;
    struct chain *chain = chain_open(x->pool, codings, n, limits, &status);

    if (!chain)
        return status;
    *out = lend_chain(x, chain);
    if (*out)
        return TERSE_OK;
    chain_close(x->pool, chain, true);
    return TERSE_E_NOMEM;
}

terse_status stream_open_chain(terse_exchange *x, const int *codings, unsigned n,
                               const struct chain_limits *limits)
{
    int saved = errno;
    terse_status status = open_chain(x, codings, n, limits, &x->stream);

    if (status == TERSE_OK) {
        x->stream->request = true;
        x->stream->held = chain_count(x->pool, x->stream->chain);
        x->pool->decoding += x->stream->held;
    }
    errno_keep(saved);
    return status;
}

/* Puts an encoder behind the decoders. */
static terse_status add_encoder(terse_stream *stream, const struct settings *s, int coding)
{
    terse_pool *pool = stream->pool;
    bool reused;

    stream->kind = codec_encoder(s, coding, -1, false, &stream->want);
    if (!stream->kind)
        return TERSE_E_CODING;
    stream->recoding = recoding_open(pool, stream->chain);
    if (!stream->recoding)
        return TERSE_E_NOMEM;
    stream->coder = budget_coder(pool, stream->kind, &stream->want, &reused);
    if (!stream->coder)
        return TERSE_E_NOMEM;
    pool->streams_reused += reused;
    stream->direction = TERSE_ENCODE;
    set_up(stream, s);
    stream->parks = false; /* its decoders could not be */
    return TERSE_OK;
}

terse_status stream_open_recoding(terse_exchange *x, const int *codings, unsigned n, int coding,
                                  int64_t length)
{
    /* the client's pace is the limit: nothing is held but windows */
    const struct chain_limits limits = {INT64_MAX, INT64_MAX, length ? length : -1};
    int saved = errno;
    terse_stream *stream = NULL;
    terse_status status = open_chain(x, codings, n, &limits, &stream);

    if (status == TERSE_OK && coding != CODING_IDENTITY) {
        status = add_encoder(stream, &x->policy->settings, coding);
        if (status < 0)
            release(stream);
    }
    if (status == TERSE_OK)
        x->stream = stream;
    errno_keep(saved);
    return status;
}

terse_status stream_open(terse_pool *pool, const terse_spec *spec, terse_stream **out)
{
    terse_spec mine;
    terse_status status;
    int saved = errno;

    if (!pool || !out)
        return TERSE_E_ARG;
    status = take(&mine, sizeof mine, TERSE_SPEC_SIZE_V0, spec);
    if (status == TERSE_OK)
        status = check_spec(&mine);
    if (status == TERSE_OK)
        status = open_checked(pool, &mine, out);
    errno_keep(saved);
    return status;
}

static void release_chain(terse_stream *stream, bool clean)
{
    terse_pool *pool = stream->pool;

    pool->decoding -= stream->held;
    if (stream->coder && stream->coder != chain_last(stream->chain))
        pool_take_back(pool, stream->coder, clean);
    recoding_close(pool, stream->recoding);
    chain_close(pool, stream->chain, clean);
}

static void release(terse_stream *stream)
{
    terse_pool *pool = stream->pool;
    /* What a decoder was fed does not spoil it, for a reset is complete; an encoder does not fail
     * unless something is wrong with it. */
    bool clean = stream->ending >= 0 || stream->ending == TERSE_E_DATA;

    stream_unlink(stream);
    pool->streams_live--;
    if (stream->chain)
        release_chain(stream, clean);
    else if (stream->coder)
        pool_take_back(pool, stream->coder, clean);
    else
        pool->streams_parked--;
    handle_give(pool, stream);
}

void stream_free(terse_stream *stream)
{
    int saved = errno;

    if (!stream || !stream->pool)
        return;
    if (stream->exchange)
        stream->exchange->stream = NULL;
    release(stream);
    errno_keep(saved);
}

bool stream_is_bad_origin(const terse_stream *stream)
{
    return stream && stream->chain && !stream->request && stream->ending == TERSE_E_DATA;
}

/* The exchanges of a pool that goes are over: they are not touched. */
void streams_clear(terse_pool *pool)
{
    while (pool->live)
        release(pool->live);
    while (pool->parked)
        release(pool->parked);
    while (pool->spare) {
        terse_stream *stream = pool->spare;

        pool->spare = stream->next;
        blocks_give(&pool->blocks, stream);
    }
}

/* ---- running ----------------------------------------------------------------------------- */

static terse_status step(terse_stream *stream, int32_t operation, struct coder_io *io)
{
    size_t in_len = io->in_len;
    terse_status status = stream->coder->kind->run(stream->coder, operation, io);

    stream->unflushed += in_len - io->in_len;
    stream->operation = status == TERSE_MORE ? operation : TERSE_RUN;
    stream->emptied = !io->in_len;
    if (status == TERSE_END || (status == TERSE_OK && operation == TERSE_FLUSH))
        stream->unflushed = 0;
    if (status == TERSE_END || status < 0)
        stream->ending = status;
    return status;
}

/* Whatever the caller does, the codecs see one operation completed before the next. */
terse_status stream_encode(terse_stream *stream, int32_t operation, struct coder_io *io)
{
    if (stream->operation == TERSE_FINISH) {
        operation = TERSE_FINISH; /* an end once begun is not taken back */
        if (stream->emptied && io->in_len)
            return TERSE_E_ARG;
    }
    if (stream_is_parked(stream)) {
        bool done;
        terse_status status = stream_wake(stream, operation, io, &done);

        if (done)
            return status;
    }
    if (stream->operation == TERSE_FLUSH && (stream->emptied || operation != TERSE_FLUSH)) {
        struct coder_io none = {io->in, 0, io->out, io->out_len};
        terse_status status = step(stream, TERSE_FLUSH, &none);

        io->out = none.out;
        io->out_len = none.out_len;
        if (status != TERSE_OK)
            return status;
    }
    /* with nothing to flush, codecs write empty blocks, or never answer that they are done */
    if (operation == TERSE_FLUSH && !stream->unflushed && !io->in_len)
        return TERSE_OK;
    return step(stream, operation, io);
}

/* What a request's body may still take, of decode.memory. */
static uint64_t may_hold(const terse_stream *stream)
{
    uint64_t most = stream->exchange->policy->settings.decode_memory;
    uint64_t held = stream->pool->decoding;

    return held < most ? most - held : 0;
}

/* What a request's body holds: its decoders, and what they gave. */
static bool is_held(terse_stream *stream, uint64_t given)
{
    terse_pool *pool = stream->pool;
    terse_exchange *x = stream->exchange;
    uint64_t now = chain_count(pool, stream->chain);

    pool->decoding += now - stream->held + given;
    stream->held = now;
    x->decoded += given;
    return pool->decoding <= x->policy->settings.decode_memory;
}

static terse_status decode(terse_stream *stream, int32_t operation, struct coder_io *io)
{
    size_t room = io->out_len;
    terse_status status;

    if (!stream->chain)
        return step(stream, operation, io);
    if (stream->request)
        chain_bound(stream->chain, may_hold(stream));
    status = chain_run(stream->chain, operation, io);
    if (stream->request && !is_held(stream, room - io->out_len) && status >= 0)
        status = TERSE_E_NOMEM;
    if (status == TERSE_END || status < 0)
        stream->ending = status;
    return status;
}

/* What fails of a response's decoders is the origin's fault, but for a lack of memory. */
static terse_status recode(terse_stream *stream, int32_t operation, struct coder_io *io)
{
    terse_status status = recoding_run(stream->recoding, stream, operation, io);

    if (status < 0)
        stream->ending = status;
    return status;
}

static int32_t by_flush_mode(uint8_t mode, int32_t operation)
{
    if (mode == FLUSH_EACH && operation == TERSE_RUN)
        return TERSE_FLUSH;
    return mode == FLUSH_NONE && operation == TERSE_FLUSH ? TERSE_RUN : operation;
}

static terse_status run(terse_stream *stream, int32_t operation, terse_in *in, terse_out *out)
{
    uint8_t nothing = 0; /* a place for pointers that are NULL, of length 0 */
    struct coder_io io = {&nothing, in->len - in->pos, &nothing, out->len - out->pos};
    terse_status status;

    if (in->ptr)
        io.in = (const uint8_t *)in->ptr + in->pos;
    if (out->ptr)
        io.out = (uint8_t *)out->ptr + out->pos;
    if (stream->recoding) {
        status = recode(stream, by_flush_mode(stream->flush, operation), &io);
    } else if (stream->direction == TERSE_ENCODE) {
        status = stream_encode(stream, by_flush_mode(stream->flush, operation), &io);
        if (status < 0 && status != TERSE_E_ARG)
            status = stream->ending = TERSE_E_BROKEN;
    } else {
        status = decode(stream, operation == TERSE_FLUSH ? TERSE_RUN : operation, &io);
        stream->unflushed = 0;
    }
    in->pos = in->len - io.in_len;
    out->pos = out->len - io.out_len;
    return status;
}

static void count(terse_stream *stream, uint64_t taken, uint64_t given)
{
    terse_pool *pool = stream->pool;

    if (stream->request)
        return; /* these are not bytes of the response */
    if (stream->chain && !stream->recoding)
        chain_count(pool, stream->chain);
    else if (stream->coder)
        coder_count(pool_shelf(pool, stream->kind), stream->coder);
    pool->bytes_in += taken;
    pool->bytes_out += given;
    if (stream->exchange) {
        stream->exchange->bytes_in += taken;
        stream->exchange->bytes_out += given;
    }
}

static bool is_span(const void *ptr, size_t len, size_t pos)
{
    return pos <= len && (ptr || !len);
}

terse_status stream_run(terse_stream *stream, int32_t operation, terse_in *in, terse_out *out,
                        terse_report *report)
{
    terse_report mine = {0};
    terse_status status;
    size_t in_pos, out_pos;
    int saved = errno;

    if (!stream || !stream->pool || !in || !out || operation < TERSE_RUN ||
        operation > TERSE_FINISH || !is_span(in->ptr, in->len, in->pos) ||
        !is_span(out->ptr, out->len, out->pos))
        return TERSE_E_ARG;
    if (report && give(report, TERSE_REPORT_SIZE_V0, &mine, sizeof mine) < 0)
        return TERSE_E_ARG;
    if (stream->ending)
        return stream->ending;
    in_pos = in->pos;
    out_pos = out->pos;
    stream->ran = true;
    status = run(stream, operation, in, out);
    if (status != TERSE_E_ARG)
        stream->more = status == TERSE_MORE;
    count(stream, in->pos - in_pos, out->pos - out_pos);
    mine.unflushed = stream->unflushed;
    mine.flush_ms = stream->unflushed ? stream->flush_delay : 0;
    if (report)
        give(report, TERSE_REPORT_SIZE_V0, &mine, sizeof mine);
    errno_keep(saved);
    return status;
}
