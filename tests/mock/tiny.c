/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiny.h"

struct terse_instance {
    terse_host host;
};

struct terse_negotiator {
    char unused;
};

struct terse_policy {
    int count; /* tests are one thread */
    int sealed;
    terse_negotiator negotiator;
};

struct terse_pool {
    int lent;
};

struct terse_exchange {
    char unused;
};

int tiny_open;

static const void *tiny_query(const char *id)
{
    (void)id;
    return NULL;
}

static terse_status say(char *why, size_t why_len, const char *words, terse_status status)
{
    if (why && why_len)
        snprintf(why, why_len, "%s", words);
    return status;
}

static terse_status tiny_start(const terse_host *host, terse_instance **out, char *why,
                               size_t why_len)
{
    if (!host || !out || host->struct_size < TERSE_HOST_SIZE_V0)
        return say(why, why_len, "no host", TERSE_E_ARG);
    terse_instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        return say(why, why_len, "no memory", TERSE_E_NOMEM);
    memcpy(&instance->host, host, sizeof instance->host);
    instance->host.struct_size = TERSE_HOST_SIZE_V0;
    if (host->log)
        host->log(host->data, TERSE_LOG_INFO, "tiny", 4);
    tiny_open++;
    *out = instance;
    return TERSE_OK;
}

static void tiny_close(terse_instance *instance)
{
    if (instance)
        tiny_open--;
    free(instance);
}

static terse_status tiny_info(const terse_instance *instance, uint32_t index, terse_str *name,
                              terse_str *value)
{
    (void)instance;
    if (index > 0)
        return TERSE_E_ARG;
    *name = (terse_str){"plugin", 6};
    *value = (terse_str){"tiny", 4};
    return TERSE_OK;
}

static terse_status tiny_self_test(terse_instance *instance, const terse_policy *policy, char *why,
                                   size_t why_len)
{
    (void)instance;
    return policy->sealed ? TERSE_OK : say(why, why_len, "not sealed", TERSE_E_STATE);
}

static terse_status tiny_policy_new(terse_instance *instance, terse_policy **out)
{
    (void)instance;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return TERSE_E_NOMEM;
    (*out)->count = 1;
    return TERSE_OK;
}

static terse_status tiny_policy_set(terse_policy *policy, terse_str key, terse_str value, char *why,
                                    size_t why_len)
{
    (void)value;
    if (policy->sealed)
        return say(why, why_len, "sealed", TERSE_E_STATE);
    if (key.len && key.ptr[0] == '?')
        return TERSE_OK;
    return say(why, why_len, "this plugin has no settings", TERSE_E_KEY);
}

static terse_status tiny_policy_seal(terse_policy *policy, char *why, size_t why_len)
{
    if (policy->sealed)
        return say(why, why_len, "sealed already", TERSE_E_STATE);
    policy->sealed = 1;
    return TERSE_OK;
}

static terse_status tiny_policy_derive(const terse_policy *base,
                                       const terse_policy *const *overlays, size_t n_overlays,
                                       terse_policy **out)
{
    (void)overlays;
    (void)n_overlays;
    if (!base->sealed)
        return TERSE_E_STATE;
    terse_status status = tiny_policy_new(NULL, out);
    if (status == TERSE_OK)
        (*out)->sealed = 1;
    return status;
}

static void tiny_policy_ref(const terse_policy *policy)
{
    ((terse_policy *)(uintptr_t)policy)->count++;
}

static void tiny_policy_unref(const terse_policy *policy)
{
    terse_policy *mine = (terse_policy *)(uintptr_t)policy;
    if (mine && --mine->count == 0)
        free(mine);
}

static const terse_negotiator *tiny_negotiator(const terse_policy *policy)
{
    return policy->sealed ? &policy->negotiator : NULL;
}

static terse_status tiny_negotiate(const terse_negotiator *negotiator, const terse_str *fields,
                                   size_t n_fields, terse_choice *out)
{
    (void)negotiator;
    (void)fields;
    (void)n_fields;
    if (out->struct_size < TERSE_CHOICE_SIZE_V0)
        return TERSE_E_ARG;
    out->flags = 0;
    out->coding = NULL;
    out->n_weights = 0;
    return TERSE_OK;
}

static terse_status tiny_pool_new(terse_instance *instance, const terse_policy *policy,
                                  terse_pool **out)
{
    (void)instance;
    (void)policy;
    *out = calloc(1, sizeof **out);
    return *out ? TERSE_OK : TERSE_E_NOMEM;
}

static void tiny_pool_free(terse_pool *pool)
{
    free(pool);
}

static void tiny_pool_tick(terse_pool *pool, uint64_t now_ms)
{
    (void)pool;
    (void)now_ms;
}

static terse_status tiny_pool_counter(const terse_pool *pool, uint32_t index, const char **name,
                                      uint64_t *value)
{
    if (index > 0)
        return TERSE_E_ARG;
    *name = "lent";
    *value = (uint64_t)pool->lent;
    return TERSE_OK;
}

static terse_status tiny_pool_lend(terse_pool *pool, size_t min, terse_out *out)
{
    out->ptr = malloc(min ? min : 1);
    out->len = min;
    out->pos = 0;
    if (!out->ptr)
        return TERSE_E_NOMEM;
    pool->lent++;
    return TERSE_OK;
}

static void tiny_pool_return(terse_pool *pool, void *ptr)
{
    if (ptr)
        pool->lent--;
    free(ptr);
}

static terse_status pass(terse_decision *out)
{
    uint32_t size = out->struct_size;
    if (size < TERSE_DECISION_SIZE_V0)
        return TERSE_E_ARG;
    memset(out, 0, size);
    out->struct_size = size;
    out->action = TERSE_PASS;
    out->length = TERSE_LENGTH_KEEP;
    out->reason_name = "no-coding";
    out->reason_text = "this plugin knows no coding";
    return TERSE_OK;
}

static terse_status tiny_decide(terse_exchange *x, const terse_facts *facts, terse_decision *out)
{
    (void)x;
    return facts->struct_size < TERSE_FACTS_SIZE_V0 ? TERSE_E_ARG : pass(out);
}

static terse_status tiny_decide_more(terse_exchange *x, const terse_facts *facts, terse_str bytes,
                                     int32_t how, terse_decision *out)
{
    (void)x;
    (void)facts;
    (void)bytes;
    (void)how;
    (void)out;
    return TERSE_E_STATE; /* it never asks */
}

static terse_status tiny_encode_whole(terse_exchange *x, const terse_facts *facts, terse_str body,
                                      terse_str *coded, terse_decision *out)
{
    (void)x;
    (void)facts;
    (void)body;
    (void)coded;
    (void)out;
    return TERSE_E_STATE;
}

static void tiny_exchange_end(terse_exchange *x, int32_t how, terse_outcome *out)
{
    (void)x;
    (void)how;
    if (!out || out->struct_size < TERSE_OUTCOME_SIZE_V0)
        return;
    uint32_t size = out->struct_size;
    memset(out, 0, size);
    out->struct_size = size;
    out->reason_name = "no-coding";
}

static terse_status tiny_stream_open(terse_pool *pool, const terse_spec *spec, terse_stream **out)
{
    (void)pool;
    (void)spec;
    (void)out;
    return TERSE_E_CODING;
}

static terse_status tiny_stream_run(terse_stream *stream, int32_t operation, terse_in *in,
                                    terse_out *out, terse_report *report)
{
    (void)stream;
    (void)operation;
    (void)in;
    (void)out;
    (void)report;
    return TERSE_E_ARG;
}

static void tiny_stream_free(terse_stream *stream)
{
    (void)stream;
}

const terse_api tiny_api = {
    .struct_size = TERSE_API_SIZE_V0,
    .abi_major = TERSE_ABI_MAJOR,
    .abi_minor = TERSE_ABI_MINOR,
    .exchange_size = sizeof(struct terse_exchange),
    .version = "0.0.1",
    .build = "tiny",
    .query = tiny_query,
    .open = tiny_start,
    .close = tiny_close,
    .info = tiny_info,
    .self_test = tiny_self_test,
    .policy_new = tiny_policy_new,
    .policy_set = tiny_policy_set,
    .policy_seal = tiny_policy_seal,
    .policy_derive = tiny_policy_derive,
    .policy_ref = tiny_policy_ref,
    .policy_unref = tiny_policy_unref,
    .negotiator = tiny_negotiator,
    .negotiate = tiny_negotiate,
    .pool_new = tiny_pool_new,
    .pool_free = tiny_pool_free,
    .pool_tick = tiny_pool_tick,
    .pool_counter = tiny_pool_counter,
    .pool_lend = tiny_pool_lend,
    .pool_return = tiny_pool_return,
    .request = tiny_decide,
    .decide = tiny_decide,
    .decide_more = tiny_decide_more,
    .encode_whole = tiny_encode_whole,
    .exchange_end = tiny_exchange_end,
    .stream_open = tiny_stream_open,
    .stream_run = tiny_stream_run,
    .stream_free = tiny_stream_free,
};
