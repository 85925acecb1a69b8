/* SPDX-License-Identifier: MIT */
/* A response's body behind codings: the first byte picks these and what the client accepts, the second
 * one how it is split and flushed and when the client goes away, the rest is the body as it came.  What
 * leaves decodes to what the body decodes to at once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <terse.h>

const terse_api *terse_plugin_entry(uint32_t abi_major);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLAIN ((size_t)4 << 20) /* no more is looked at */
#define INPUT_MAX 65536
#define IDLE_MAX 10000 /* calls that move nothing */

static const char *const codings[] = {"gzip",     "br",       "zstd",           "deflate",
                                      "br, gzip", "gzip, br", "gzip, zstd, br", "deflate, zstd"};
static const char *const accepted[] = {"identity", "gzip", "br", "zstd"};

struct headers {
    const char *coding, *accepted;
};

struct bytes {
    char *ptr;
    size_t len;
};

static terse_instance *instance;
static terse_policy *policy;
static terse_pool *pool;
static terse_exchange *x;
static struct bytes reference, sent, plain; /* of PLAIN bytes each */

static void need(int holds)
{
    if (!holds)
        abort();
}

static void set_up(const terse_api *api)
{
    static const terse_host host = {.struct_size = sizeof host};

    need(api->open(&host, &instance, NULL, 0) >= 0);
    need(api->policy_new(instance, &policy) >= 0);
    need(api->policy_set(policy, (terse_str){"decode.responses", 16}, (terse_str){"on", 2}, NULL,
                         0) >= 0);
    need(api->policy_seal(policy, NULL, 0) >= 0);
    need(api->pool_new(instance, policy, &pool) >= 0);
    x = calloc(1, api->exchange_size);
    reference.ptr = malloc(PLAIN);
    sent.ptr = malloc(PLAIN);
    plain.ptr = malloc(PLAIN);
    need(x && reference.ptr && sent.ptr && plain.ptr);
}

static int32_t find(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                    terse_str *value)
{
    const struct headers *h = ctx;
    const char *found = NULL;

    if (nth)
        return 0;
    if (side == TERSE_REQUEST && name_len == 15 && !memcmp(name, "accept-encoding", 15))
        found = h->accepted;
    else if (side == TERSE_RESPONSE && name_len == 16 && !memcmp(name, "content-encoding", 16))
        found = h->coding;
    else if (side == TERSE_RESPONSE && name_len == 12 && !memcmp(name, "content-type", 12))
        found = "text/html";
    if (found)
        *value = (terse_str){found, strlen(found)};
    return found != NULL;
}

/* TERSE_OK: the client is gone, or has no more room. */
static terse_status run(const terse_api *api, terse_stream *stream, terse_str body, uint8_t how,
                        struct bytes *to)
{
    size_t piece = how & 7 ? (size_t)1 << 2 * (how & 7) : body.len, taken = 0;
    unsigned calls = how & 0xf0 ? (unsigned)(how >> 4) * 4 : UINT32_MAX, idle = 0;
    terse_status status = TERSE_MORE;

    to->len = 0;
    while (status == TERSE_OK || status == TERSE_MORE) {
        size_t left = body.len - taken, len = left < piece ? left : piece, was = to->len;
        int32_t operation = len == left ? TERSE_FINISH : how & 8 ? TERSE_FLUSH : TERSE_RUN;
        terse_in in = {body.ptr + taken, len, 0};
        terse_out out = {to->ptr, PLAIN, to->len};

        if (to->len == PLAIN || !calls--)
            return TERSE_OK;
        status = api->stream_run(stream, operation, &in, &out, NULL);
        need(in.pos <= len && in.pos <= INPUT_MAX && out.pos <= PLAIN);
        taken += in.pos;
        to->len = out.pos;
        idle = in.pos || out.pos > was || len < left ? 0 : idle + 1;
        need(idle < IDLE_MAX);
    }
    need(status != TERSE_END || taken == body.len);
    return status;
}

/* What leaves for that client. */
static terse_status answer(const terse_api *api, struct headers *h, terse_str body, uint8_t how,
                           struct bytes *to, const char **coding)
{
    terse_facts f = {.struct_size = sizeof f,
                     .policy = policy,
                     .pool = pool,
                     .header = find,
                     .header_ctx = h,
                     .method = {"GET", 3},
                     .http_version = 11,
                     .status = 200,
                     .length = -1};
    terse_decision d = {.struct_size = sizeof d};
    terse_spec spec = {sizeof spec, TERSE_ENCODE, policy, x, {"", 0}, -1};
    terse_stream *stream;
    terse_status status;

    need(api->decide(x, &f, &d) >= 0);
    *coding = d.coding;
    if (d.action != TERSE_STREAM) { /* it accepts what came */
        api->exchange_end(x, TERSE_DONE, NULL);
        return TERSE_OK;
    }
    need(api->stream_open(pool, &spec, &stream) >= 0);
    status = run(api, stream, body, how, to);
    api->exchange_end(x, status == TERSE_END ? TERSE_DONE : TERSE_ABORTED, NULL);
    return status;
}

static void check(const terse_api *api, const char *coding)
{
    terse_spec spec = {sizeof spec, TERSE_DECODE, policy, NULL, {coding, 0}, -1};
    terse_stream *stream;

    if (coding) {
        spec.coding.len = strlen(coding);
        need(api->stream_open(pool, &spec, &stream) >= 0);
        need(run(api, stream, (terse_str){sent.ptr, sent.len}, 0, &plain) == TERSE_END);
        api->stream_free(stream);
    } else {
        memcpy(plain.ptr, sent.ptr, plain.len = sent.len);
    }
    need(plain.len == reference.len && !memcmp(plain.ptr, reference.ptr, plain.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    struct headers h;
    terse_str body;
    const char *coding;
    terse_status whole, status;

    if (size < 2)
        return 0;
    if (!x)
        set_up(api);
    body = (terse_str){(const char *)data + 2, size - 2};
    h = (struct headers){codings[data[0] % 8], "identity"};
    whole = answer(api, &h, body, 0, &reference, &coding);
    h.accepted = accepted[data[0] / 8 % 4];
    status = answer(api, &h, body, data[1], &sent, &coding);
    if (whole == TERSE_END && status == TERSE_END && reference.len < PLAIN)
        check(api, coding);
    need(status == TERSE_OK || whole == TERSE_OK || (status == TERSE_END) == (whole == TERSE_END));
    return 0;
}
