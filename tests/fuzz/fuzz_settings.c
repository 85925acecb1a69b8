/* SPDX-License-Identifier: MIT */
/* Settings: lines "key=value" set one after another on one policy, which is then used. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <terse.h>

const terse_api *terse_plugin_entry(uint32_t abi_major);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static terse_instance *instance;
static terse_pool *pool;

static terse_str copy_of(const uint8_t *data, size_t len)
{
    char *copy = malloc(len ? len : 1);

    if (len)
        memcpy(copy, data, len);
    return (terse_str){copy, len};
}

static void set(const terse_api *api, terse_policy *policy, const uint8_t *line, size_t len)
{
    const uint8_t *eq = len ? memchr(line, '=', len) : NULL;
    size_t key_len = eq ? (size_t)(eq - line) : len;
    terse_str key = copy_of(line, key_len);
    terse_str value = eq ? copy_of(eq + 1, len - key_len - 1) : copy_of(line, 0);
    char why[64];
    terse_status status;

    memset(why, 'x', sizeof why);
    status = api->policy_set(policy, key, value, why, sizeof why);
    if (status < 0 && (!memchr(why, 0, sizeof why) || strpbrk(why, "\n\r\t")))
        abort(); /* a refusal is one line of words */
    free((char *)key.ptr);
    free((char *)value.ptr);
}

static int32_t header(void *ctx, int32_t side, const char *name, size_t len, uint32_t nth,
                      terse_str *value)
{
    const uint8_t *const *type = ctx;

    if (nth || side != TERSE_RESPONSE || len != 12 || memcmp(name, "content-type", 12))
        return 0;
    *value = (terse_str){(const char *)type[0], (size_t)(type[1] - type[0])};
    return 1;
}

/* The policy is used once, with the input as its media type. */
static void use(const terse_api *api, const terse_policy *policy, const uint8_t *data, size_t size)
{
    const uint8_t *type[2] = {data, data + size};
    terse_exchange *x = calloc(1, api->exchange_size);
    terse_decision d = {.struct_size = sizeof d};
    terse_facts f = {.struct_size = sizeof f,
                     .policy = policy,
                     .pool = pool,
                     .header = header,
                     .header_ctx = type,
                     .method = {"GET", 3},
                     .http_version = 11,
                     .status = 200,
                     .length = 1000};

    if (api->decide(x, &f, &d) < 0)
        abort();
    api->exchange_end(x, TERSE_DONE, NULL);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const terse_host host = {.struct_size = sizeof host};
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    const uint8_t *at = data, *end = data + size;
    terse_policy *policy, *derived;

    if (!instance && api->open(&host, &instance, NULL, 0) < 0)
        abort();
    if (api->policy_new(instance, &policy) < 0)
        abort();
    while (at < end) {
        const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));

        if (!line_end)
            line_end = end;
        set(api, policy, at, (size_t)(line_end - at));
        at = line_end < end ? line_end + 1 : end;
    }
    if (api->policy_seal(policy, NULL, 0) < 0)
        abort();
    if (api->policy_derive(policy, (const terse_policy *const *)&policy, 1, &derived) < 0)
        abort(); /* any subset must be satisfiable */
    if (!pool && api->pool_new(instance, derived, &pool) < 0)
        abort();
    use(api, derived, data, size);
    api->policy_unref(derived);
    api->policy_unref(policy);
    return 0;
}
