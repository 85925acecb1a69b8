/* SPDX-License-Identifier: MIT */
/* Decodes bodies, for valgrind to count: decode HOW:CODINGS:FILE...
 * HOW is "abi" (a request's body through the plugin's table) or "bare" (the codec's own library, kept
 * warm).  Each body is decoded a few times before it counts; then a line says what it was. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>
#include <valgrind/callgrind.h>
#include <zstd.h>

#include <terse.h>

#define ROOM ((size_t)1 << 20)
#define BODY_MAX ((size_t)1 << 20)
#define WARM 2

const terse_api *terse_plugin_entry(uint32_t abi_major);

struct body {
    char how[8];
    char codings[100];
    uint8_t *bytes;
    size_t len;
};

struct result {
    terse_status status;
    size_t out, most_in, most_out; /* the last two of one call */
};

static uint8_t *room;

/* ---- the libraries ---------------------------------------------------------------------------- */

static struct result decode_bare(const struct body *b)
{
    static struct libdeflate_decompressor *gzip;
    static ZSTD_DCtx *zstd;
    struct result r = {.status = TERSE_END};

    if (!gzip)
        gzip = libdeflate_alloc_decompressor();
    if (!zstd)
        zstd = ZSTD_createDCtx();
    if (!strcmp(b->codings, "gzip")) {
        if (libdeflate_gzip_decompress(gzip, b->bytes, b->len, room, ROOM, &r.out))
            r.status = TERSE_E_DATA;
    } else {
        ZSTD_inBuffer in = {b->bytes, b->len, 0};
        ZSTD_outBuffer out = {room, ROOM, 0};

        ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
        if (ZSTD_decompressStream(zstd, &out, &in))
            r.status = TERSE_E_DATA;
        r.out = out.pos;
    }
    return r;
}

/* ---- the plugin ------------------------------------------------------------------------------- */

static const terse_api *api;
static terse_policy *policy;
static terse_pool *pool;
static terse_exchange *x;

static int32_t header(void *ctx, int32_t side, const char *name, size_t len, uint32_t nth,
                      terse_str *value)
{
    const struct body *b = ctx;

    if (side != TERSE_REQUEST || nth || len != 16 || memcmp(name, "content-encoding", 16) != 0)
        return 0;
    *value = (terse_str){b->codings, strlen(b->codings)};
    return 1;
}

static void set(const char *key, const char *value)
{
    char why[200];

    if (api->policy_set(policy, (terse_str){key, strlen(key)}, (terse_str){value, strlen(value)},
                        why, sizeof why) < 0) {
        fprintf(stderr, "%s\n", why);
        exit(2);
    }
}

static void open_plugin(void)
{
    terse_host host = {.struct_size = sizeof host};
    terse_instance *instance;
    char why[200] = "";

    api = terse_plugin_entry(TERSE_ABI_MAJOR);
    if (api->open(&host, &instance, why, sizeof why) < 0 ||
        api->policy_new(instance, &policy) < 0) {
        fprintf(stderr, "%s\n", why);
        exit(2);
    }
    set("decode.requests", "on");
    set("decode.max-codings", "8");
    api->policy_seal(policy, NULL, 0);
    api->pool_new(instance, policy, &pool);
    x = calloc(1, api->exchange_size);
}

static struct result run(const struct body *b, terse_stream *stream)
{
    terse_in in = {b->bytes, b->len, 0};
    struct result r = {.status = TERSE_MORE};

    while (r.status == TERSE_MORE) {
        terse_out out = {room, ROOM, 0};
        size_t before = in.pos;

        r.status = api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
        r.out += out.pos;
        if (in.pos - before > r.most_in)
            r.most_in = in.pos - before;
        if (out.pos > r.most_out)
            r.most_out = out.pos;
    }
    return r;
}

static struct result decode_abi(struct body *b)
{
    terse_facts facts = {.struct_size = sizeof facts,
                         .policy = policy,
                         .pool = pool,
                         .header = header,
                         .header_ctx = b,
                         .method = {"POST", 4},
                         .http_version = 11,
                         .length = -1};
    terse_decision decision = {.struct_size = sizeof decision};
    terse_spec spec = {sizeof spec, TERSE_DECODE, policy, x, {"", 0}, -1};
    terse_stream *stream;
    struct result r = {.status = TERSE_E_CODING};

    if (api->request(x, &facts, &decision) >= 0 && decision.action == TERSE_UNCODE &&
        api->stream_open(pool, &spec, &stream) >= 0) {
        r = run(b, stream);
        api->request_body(x, &facts, r.status, r.out, &decision);
    }
    api->exchange_end(x, TERSE_DONE, NULL);
    return r;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static void take(const char *argument, struct body *b)
{
    const char *codings = strchr(argument, ':'), *path = codings ? strchr(codings + 1, ':') : NULL;
    FILE *file = path ? fopen(path + 1, "rb") : NULL;

    if (!file) {
        fprintf(stderr, "cannot read %s\n", argument);
        exit(2);
    }
    snprintf(b->how, sizeof b->how, "%.*s", (int)(codings - argument), argument);
    snprintf(b->codings, sizeof b->codings, "%.*s", (int)(path - codings - 1), codings + 1);
    b->bytes = malloc(BODY_MAX);
    b->len = fread(b->bytes, 1, BODY_MAX, file);
    fclose(file);
}

static struct result decode(struct body *b)
{
    return strcmp(b->how, "bare") ? decode_abi(b) : decode_bare(b);
}

int main(int argc, char **argv)
{
    room = malloc(ROOM);
    open_plugin();
    for (int i = 1; i < argc; i++) {
        struct body b;
        struct result r;
        char name[20];

        take(argv[i], &b);
        for (int n = 0; n < WARM; n++)
            decode(&b);
        CALLGRIND_ZERO_STATS;
        r = decode(&b);
        snprintf(name, sizeof name, "body %d", i);
        CALLGRIND_DUMP_STATS_AT(name);
        printf("%d %d %zu %zu %zu %zu\n", i, (int)r.status, b.len, r.out, r.most_in, r.most_out);
        free(b.bytes);
    }
    return 0;
}
