/* SPDX-License-Identifier: MIT */
/* The table and the one symbol that leads to it. */
#define TERSE_BUILDING_PLUGIN
#include <terse.h>

#include <string.h>

#include "build.h"
#include "exchange.h"
#include "instance.h"
#include "negotiator.h"
#include "plugin_config.h"
#include "policy.h"
#include "pool.h"
#include "reasons.h"
#include "rules.h"
#include "settings.h"
#include "stream.h"

static const void *query(const char *id)
{
    if (id && !strcmp(id, TERSE_QUERY_KEYS))
        return &settings_keys;
    if (id && !strcmp(id, TERSE_QUERY_REASONS))
        return &reasons_list;
    if (id && !strcmp(id, TERSE_QUERY_RULES))
        return &rules_list;
    return NULL;
}

static const terse_api api = {
    .struct_size = sizeof(terse_api),
    .abi_major = TERSE_ABI_MAJOR,
    .abi_minor = TERSE_ABI_MINOR,
    .caps = 0,
    .exchange_size = sizeof(terse_exchange),
    .version = TERSE_VERSION,
    .build = TERSE_BUILD,
    .query = query,
    .open = instance_open,
    .close = instance_close,
    .info = instance_info,
    .self_test = self_test,
    .policy_new = policy_new,
    .policy_set = policy_set,
    .policy_seal = policy_seal,
    .policy_derive = policy_derive,
    .policy_ref = policy_ref,
    .policy_unref = policy_unref,
    .negotiator = policy_negotiator,
    .negotiate = negotiate,
    .pool_new = pool_new,
    .pool_free = pool_free,
    .pool_tick = pool_tick,
    .pool_counter = pool_counter,
    .pool_lend = pool_lend,
    .pool_return = pool_return,
    .request = exchange_request,
    .decide = exchange_decide,
    .decide_more = exchange_decide_more,
    .encode_whole = exchange_encode_whole,
    .exchange_end = exchange_end,
    .stream_open = exchange_stream_open,
    .stream_run = stream_run,
    .stream_free = stream_free,
    .request_body = exchange_request_body,
};

const terse_api *terse_plugin_entry(uint32_t abi_major)
{
    return abi_major == TERSE_ABI_MAJOR ? &api : NULL;
}
