/* SPDX-License-Identifier: MIT */
/* Headers of a request and its response: the first line picks policy, method and status, each other one
 * begins with a letter for its name (see names), and the rest is its value. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <terse.h>

const terse_api *terse_plugin_entry(uint32_t abi_major);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES 24
#define POLICIES 6

static const struct {
    const char *name;
    int32_t side;
} names[] = {
    {"accept-encoding", TERSE_REQUEST},
    {"if-none-match", TERSE_REQUEST},
    {"if-match", TERSE_REQUEST},
    {"if-range", TERSE_REQUEST},
    {"range", TERSE_REQUEST},
    {"cache-control", TERSE_REQUEST},
    {"etag", TERSE_RESPONSE},
    {"vary", TERSE_RESPONSE},
    {"content-type", TERSE_RESPONSE},
    {"cache-control", TERSE_RESPONSE},
    {"content-encoding", TERSE_RESPONSE},
    {"content-range", TERSE_RESPONSE},
    {"content-length", TERSE_RESPONSE},
    {"transfer-encoding", TERSE_RESPONSE},
    {"x-compress-hint", TERSE_RESPONSE},
    {"content-location", TERSE_RESPONSE},
    {"repr-digest", TERSE_RESPONSE},
};
#define NAMES (sizeof names / sizeof names[0])

struct line {
    size_t name;
    terse_str value;
};

struct message {
    struct line lines[LINES];
    size_t n;
};

static terse_instance *instance;
static terse_policy *policies[POLICIES];
static terse_pool *pool;
static terse_exchange *x;

static terse_policy *policy_of(const terse_api *api, const char *key, const char *value)
{
    terse_policy *policy;

    if (api->policy_new(instance, &policy) < 0 ||
        api->policy_set(policy, (terse_str){key, strlen(key)}, (terse_str){value, strlen(value)},
                        NULL, 0) < 0 ||
        api->policy_seal(policy, NULL, 0) < 0)
        abort();
    return policy;
}

static void set_up(const terse_api *api)
{
    static const terse_host host = {.struct_size = sizeof host};
    static const char *const settings[POLICIES][2] = {
        {"etag", "weaken"}, {"etag", "suffix"},      {"etag", "drop"},
        {"etag", "keep"},   {"unacceptable", "406"}, {"no-transform", "both"}};

    if (api->open(&host, &instance, NULL, 0) < 0)
        abort();
    for (int i = 0; i < POLICIES; i++)
        policies[i] = policy_of(api, settings[i][0], settings[i][1]);
    if (api->pool_new(instance, policies[0], &pool) < 0)
        abort();
    x = calloc(1, api->exchange_size);
    if (!x)
        abort();
}

static int32_t find(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                    terse_str *value)
{
    const struct message *m = ctx;

    for (size_t i = 0; i < m->n; i++) {
        const char *it = names[m->lines[i].name].name;

        if (names[m->lines[i].name].side != side || strlen(it) != name_len ||
            memcmp(it, name, name_len) != 0 || nth-- > 0)
            continue;
        *value = m->lines[i].value;
        return 1;
    }
    return 0;
}

/* Copies of exactly their size, so that a read past an end is seen. */
static void add_line(struct message *m, const uint8_t *data, size_t len)
{
    char *copy;

    if (!len || m->n == LINES)
        return;
    copy = malloc(len);
    memcpy(copy, data + 1, len - 1);
    m->lines[m->n].name = (data[0] - 'a') % NAMES;
    m->lines[m->n++].value = (terse_str){copy, len - 1};
}

static void split(struct message *m, const uint8_t *data, size_t size)
{
    m->n = 0;
    while (size) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) : size;

        add_line(m, data, len);
        data += end ? len + 1 : len;
        size -= end ? len + 1 : len;
    }
}

static bool is_framing(const terse_str *name)
{
    return name->len == 14 &&
           (!memcmp(name->ptr, "content-length", 14) || !memcmp(name->ptr, "transfer-encod", 14));
}

/* What must hold whatever the headers say. */
static void check(const terse_decision *d, const terse_facts *f, const struct message *m)
{
    terse_str value;
    bool read = !memcmp(f->method.ptr, "GET", 3) || !memcmp(f->method.ptr, "HEAD", 4);

    for (uint32_t i = 0; i < d->n_edits; i++) {
        const terse_edit *e = &d->edits[i];

        if (!e->name.len || is_framing(&e->name) || memchr(e->value.ptr, '\n', e->value.len))
            abort();
    }
    if (d->coding && !find((void *)(uintptr_t)m, TERSE_REQUEST, "accept-encoding", 15, 0, &value))
        abort();
    if (d->action == TERSE_NO_BODY &&
        (!read || d->status != 304 ||
         !find((void *)(uintptr_t)m, TERSE_REQUEST, "if-none-match", 13, 0, &value)))
        abort();
    if (d->action == TERSE_REPLY && (d->status != 406 || !d->body.len))
        abort();
}

static void run(const terse_api *api, struct message *m, terse_facts *f)
{
    static const char text[] = "a body that says the same again and again and again and again";
    terse_decision d = {.struct_size = sizeof d};
    terse_str coded;

    if (api->request(x, f, &d) < 0)
        abort();
    check(&d, f, m);
    if (api->decide(x, f, &d) < 0)
        abort();
    check(&d, f, m);
    if (d.action == TERSE_PEEK && api->decide_more(x, f, (terse_str){text, sizeof text}, 1, &d) < 0)
        abort();
    if (d.action == TERSE_WHOLE &&
        api->encode_whole(x, f, (terse_str){text, sizeof text}, &coded, &d) < 0)
        abort();
    check(&d, f, m);
    api->exchange_end(x, TERSE_DONE, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"GET\0", "HEAD", "PUT\0", "POST", "OPTIONS"};
    static const uint32_t statuses[] = {200, 304, 206, 404, 204, 406};
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    struct message m;
    const char *method;
    terse_facts f;

    if (size < 4)
        return 0;
    if (!x)
        set_up(api);
    split(&m, data + 3, size - 3);
    method = methods[data[1] % 5];
    f = (terse_facts){.struct_size = sizeof f,
                      .policy = policies[data[0] % POLICIES],
                      .pool = pool,
                      .header = find,
                      .header_ctx = &m,
                      .method = {method, strlen(method)},
                      .http_version = 11,
                      .status = statuses[data[2] % 6],
                      .length = data[1] & 0x80 ? -1 : 62};
    run(api, &m, &f);
    while (m.n)
        free((char *)(uintptr_t)m.lines[--m.n].value.ptr);
    return 0;
}
