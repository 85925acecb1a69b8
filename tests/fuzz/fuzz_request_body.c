/* SPDX-License-Identifier: MIT */
/* A request's body behind codings: the first byte picks these, the second one how it is split and
 * when the client goes away, the rest is the body as it came. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <terse.h>

const terse_api *terse_plugin_entry(uint32_t abi_major);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LENGTH (UINT64_C(4) << 20) /* decode.max-length */
#define INPUT_MAX 65536
#define OUTPUT_MAX 262144
#define ROOM (2 * OUTPUT_MAX)

static const char *const codings[] = {"gzip",     "br",       "zstd",           "deflate",
                                      "br, gzip", "gzip, br", "gzip, zstd, br", "deflate, zstd"};

static terse_instance *instance;
static terse_policy *policy;
static terse_pool *pool;
static terse_exchange *x;
static char room[ROOM];

static void need(int holds)
{
    if (!holds)
        abort();
}

static void set(const terse_api *api, const char *key, const char *value)
{
    need(api->policy_set(policy, (terse_str){key, strlen(key)}, (terse_str){value, strlen(value)},
                         NULL, 0) >= 0);
}

static void set_up(const terse_api *api)
{
    static const terse_host host = {.struct_size = sizeof host};

    need(api->open(&host, &instance, NULL, 0) >= 0);
    need(api->policy_new(instance, &policy) >= 0);
    set(api, "decode.requests", "on");
    set(api, "decode.max-length", "4m");
    need(api->policy_seal(policy, NULL, 0) >= 0);
    need(api->pool_new(instance, policy, &pool) >= 0);
    x = calloc(1, api->exchange_size);
    need(x != NULL);
}

static int32_t find(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                    terse_str *value)
{
    const char *list = ctx;

    if (side != TERSE_REQUEST || nth || name_len != 16 || memcmp(name, "content-encoding", 16) != 0)
        return 0;
    *value = (terse_str){list, strlen(list)};
    return 1;
}

static uint64_t counter(const terse_api *api, const char *wanted)
{
    const char *name;
    uint64_t value;

    for (uint32_t i = 0; api->pool_counter(pool, i, &name, &value) == TERSE_OK; i++)
        if (!strcmp(name, wanted))
            return value;
    abort();
}

/* Runs up to `calls` of them.  What is taken and given is within the limits of one call. */
static terse_status feed(const terse_api *api, terse_stream *stream, terse_str body, uint8_t how,
                         uint64_t *given)
{
    size_t piece = how & 7 ? (size_t)1 << 2 * (how & 7) : body.len, taken = 0;
    size_t want = how & 8 ? 1000 : ROOM;
    unsigned calls = how & 0xf0 ? (unsigned)(how >> 4) : UINT32_MAX;
    terse_status status = TERSE_MORE;

    while ((status == TERSE_OK || status == TERSE_MORE) && calls--) {
        size_t left = body.len - taken, len = left < piece ? left : piece;
        terse_in in = {body.ptr + taken, len, 0};
        terse_out out = {room, want, 0};

        status = api->stream_run(stream, len == left ? TERSE_FINISH : TERSE_RUN, &in, &out, NULL);
        need(in.pos <= len && in.pos <= INPUT_MAX && out.pos <= want && out.pos <= OUTPUT_MAX);
        need(status < 0 || status == TERSE_END || in.pos || out.pos || len < left);
        taken += in.pos;
        *given += out.pos;
        need(*given <= LENGTH + 1 && (status < 0 || *given <= LENGTH));
    }
    need(status != TERSE_END || taken == body.len);
    return status;
}

static void decode(const terse_api *api, const terse_facts *f, terse_str body, uint8_t how)
{
    terse_spec spec = {.struct_size = sizeof spec,
                       .direction = TERSE_DECODE,
                       .policy = policy,
                       .exchange = x,
                       .length = -1};
    terse_decision d = {.struct_size = sizeof d};
    terse_stream *stream;
    uint64_t given = 0;
    terse_status status;

    need(api->request(x, f, &d) >= 0 && d.action == TERSE_UNCODE);
    need(api->stream_open(pool, &spec, &stream) >= 0);
    status = feed(api, stream, body, how, &given);
    if (status == TERSE_OK || status == TERSE_MORE)
        return; /* the client is gone */
    need(api->request_body(x, f, status, given, &d) >= 0);
    need((d.action == TERSE_PASS) == (status == TERSE_END));
    need(d.action == TERSE_PASS || d.status == 400 || d.status == 413 || d.status == 503);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    const char *list;
    terse_facts f;

    if (size < 2)
        return 0;
    if (!x)
        set_up(api);
    list = codings[data[0] % 8];
    f = (terse_facts){.struct_size = sizeof f,
                      .policy = policy,
                      .pool = pool,
                      .header = find,
                      .header_ctx = (void *)(uintptr_t)list,
                      .method = {"POST", 4},
                      .http_version = 11,
                      .length = -1};
    decode(api, &f, (terse_str){(const char *)data + 2, size - 2}, data[1]);
    api->exchange_end(x, TERSE_DONE, NULL);
    need(!counter(api, "decode.held") && !counter(api, "streams.live"));
    return 0;
}
