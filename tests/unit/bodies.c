/* SPDX-License-Identifier: MIT */
#include "bodies.h"

static const char *const words[] = {
    "the ",          "content ",   "coding ",   "of ",     "a ",      "representation ",
    "<div class=\"", "\">",        "</div>\n",  "window ", "level ",  "is ",
    "42, ",          "\"name\": ", "function ", "{ ",      "} ",      "return ",
    "value ",        "and ",       "https://",  "example", ".html\n", "0"};

void body_fill(enum body kind, uint8_t *to, size_t len)
{
    const char *word = "";
    uint32_t x = 2463534242u;

    for (size_t i = 0; i < len; i++) {
        x ^= x << 13; /* xorshift */
        x ^= x >> 17;
        x ^= x << 5;
        if (kind == NOISE) {
            to[i] = (uint8_t)(x >> 11);
        } else if (kind == ZEROS) {
            to[i] = 0;
        } else {
            if (!*word)
                word = words[(x >> 7) % (sizeof words / sizeof words[0])];
            to[i] = (uint8_t)*word++;
        }
    }
}

uint8_t *body_new(enum body kind, size_t len)
{
    uint8_t *body = malloc(len + 1); /* + 1: a body of no bytes has a place too */

    assert_non_null(body);
    body_fill(kind, body, len);
    return body;
}

void sink_add(struct sink *sink, const void *ptr, size_t len)
{
    if (sink->len + len > sink->cap) {
        sink->cap = (sink->len + len) * 2;
        sink->ptr = realloc(sink->ptr, sink->cap);
        assert_non_null(sink->ptr);
    }
    if (len)
        memcpy(sink->ptr + sink->len, ptr, len);
    sink->len += len;
}

void sink_free(struct sink *sink)
{
    free(sink->ptr);
    memset(sink, 0, sizeof *sink);
}

void assert_bytes(const struct sink *sink, const void *expected, size_t len)
{
    assert_int_equal(sink->len, len);
    if (len)
        assert_int_equal(memcmp(sink->ptr, expected, len), 0);
}

const int *codings(void)
{
    static const int built[] = {
#if HAVE_ZLIB
        CODING_GZIP,
        CODING_DEFLATE,
#endif
#if HAVE_BROTLI
        CODING_BR,
#endif
#if HAVE_ZSTD
        CODING_ZSTD,
#endif
        CODING_NONE,
    };

    return built;
}

terse_str coding_str(int coding)
{
    return S(coding_name(coding));
}

terse_policy *policy_with(struct rig *rig, const char *key, const char *value)
{
    terse_policy *policy;

    assert_int_equal(rig->api->policy_new(rig->instance, &policy), TERSE_OK);
    assert_int_equal(rig->api->policy_set(policy, S(key), S(value), rig->why, sizeof rig->why),
                     TERSE_OK);
    assert_int_equal(rig->api->policy_seal(policy, rig->why, sizeof rig->why), TERSE_OK);
    return policy;
}

void level_range(int coding, int *low, int *high)
{
    *low = coding == CODING_ZSTD ? -7 : coding == CODING_BR ? 0 : 1;
    *high = coding == CODING_ZSTD ? 19 : coding == CODING_BR ? 11 : 9;
}

bool level_is_heavy(int coding, int level)
{
    return (coding == CODING_BR && level > 6) || (coding == CODING_ZSTD && level > 9);
}

terse_policy *policy_of_level(struct rig *rig, int coding, int level)
{
    char text[16];

    snprintf(text, sizeof text, "%d", level);
    return policy_with(rig,
                       coding == CODING_ZSTD ? "zstd.level"
                       : coding == CODING_BR ? "br.quality"
                                             : "gzip.level",
                       text);
}

terse_stream *open_stream(struct rig *rig, const terse_policy *policy, int32_t direction,
                          int coding, int64_t length)
{
    terse_spec spec = {sizeof spec, direction, policy, NULL, coding_str(coding), length};
    terse_stream *stream = NULL;

    assert_int_equal(rig->api->stream_open(rig->pool, &spec, &stream), TERSE_OK);
    return stream;
}

/* One piece: exact-size copies of it and of the room, so that a sanitizer sees a step too far. */
static terse_status pump_piece(terse_stream *stream, int32_t operation, const uint8_t *ptr,
                               size_t len, size_t room, struct sink *sink)
{
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    uint8_t *piece = malloc(len + !len), *place = malloc(room);
    terse_in in = {piece, len, 0};
    terse_status status;

    assert_non_null(piece);
    assert_non_null(place);
    if (len)
        memcpy(piece, ptr, len);
    do {
        terse_out out = {place, room, 0};
        size_t before = in.pos;

        status = api->stream_run(stream, operation, &in, &out, NULL);
        assert_true(out.pos <= room && in.pos <= len);
        sink_add(sink, place, out.pos);
        if (status == TERSE_MORE) /* nothing else may be the cause, and it must go on */
            assert_true(out.pos == room || in.pos > before);
        if (status == TERSE_OK)
            assert_int_equal(in.pos, len);
    } while (status == TERSE_MORE);
    free(piece);
    free(place);
    return status;
}

terse_status pump(terse_stream *stream, int32_t operation, const void *ptr, size_t len,
                  struct cut cut, struct sink *sink)
{
    const uint8_t *at = ptr;
    size_t room = cut.out ? cut.out : 65536;
    terse_status status = TERSE_OK;

    while (cut.in && len > cut.in && status >= 0) {
        status = pump_piece(stream, TERSE_RUN, at, cut.in, room, sink);
        at += cut.in;
        len -= cut.in;
    }
    return status < 0 ? status : pump_piece(stream, operation, at, len, room, sink);
}

void code_stream(struct rig *rig, const terse_policy *policy, int coding, int64_t length,
                 const void *ptr, size_t len, struct cut cut, struct sink *sink)
{
    terse_stream *stream = open_stream(rig, policy, TERSE_ENCODE, coding, length);

    assert_int_equal(pump(stream, TERSE_FINISH, ptr, len, cut, sink), TERSE_END);
    rig->api->stream_free(stream);
}

uint64_t counter(const struct rig *rig, const char *name)
{
    const char *found;
    uint64_t value;

    for (uint32_t i = 0; rig->api->pool_counter(rig->pool, i, &found, &value) == TERSE_OK; i++)
        if (!strcmp(found, name))
            return value;
    fail_msg("no counter %s", name);
    return 0;
}
