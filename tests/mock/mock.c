/* SPDX-License-Identifier: MIT */
/* One wrong plugin for each MOCK_*, and a right one for MOCK_GOOD.  What a plugin exports is fixed
 * when it is built, so each is a file of its own. */
#define TERSE_BUILDING_PLUGIN
#include <stdio.h>
#include <string.h>

#include "tiny.h"

#ifdef MOCK_MISSING_DEPENDENCY
int no_such_library(void);
#endif
#ifdef MOCK_UNDEFINED_SYMBOL
int no_such_function(void);
#endif

#if defined(MOCK_OPEN_FAILS) || defined(MOCK_OPEN_SILENT) || defined(MOCK_NO_INSTANCE)
static terse_status wrong_open(const terse_host *host, terse_instance **out, char *why,
                               size_t why_len)
{
    (void)host;
    (void)out;
    (void)why;
    (void)why_len;
#if defined(MOCK_OPEN_FAILS)
    snprintf(why, why_len, "libz.so.1 is version 1.1.4,\nat least 1.2.3 is needed");
    return TERSE_E_LIBRARY;
#elif defined(MOCK_OPEN_SILENT)
    return TERSE_E_NOMEM;
#else
    return TERSE_OK;
#endif
}
#endif

#ifdef MOCK_ODD
/* Loads well, but has something to say that a host may get wrong. */
static const terse_key *odd_key(uint32_t index)
{
    static const terse_key key = {sizeof key, 0, "odd|key", "choice", "a|b", "a", "Either a | b."};
    return index == 0 ? &key : NULL;
}

static const void *odd_query(const char *id)
{
    static const terse_keys keys = {sizeof keys, 1, odd_key};
    return strcmp(id, TERSE_QUERY_KEYS) == 0 ? &keys : NULL;
}

static terse_status odd_self_test(terse_instance *instance, const terse_policy *policy, char *why,
                                  size_t why_len)
{
    (void)instance;
    (void)policy;
    snprintf(why, why_len, "coding a sample failed");
    return TERSE_E_BROKEN;
}
#endif

#if !defined(MOCK_NO_ENTRY) && !defined(MOCK_BORROWED_ENTRY)
static terse_api api;

const terse_api *terse_plugin_entry(uint32_t abi_major)
{
    if (abi_major != TERSE_ABI_MAJOR)
        return NULL;
    memcpy(&api, &tiny_api, sizeof api);
#if defined(MOCK_NULL_API)
    return NULL;
#elif defined(MOCK_SHORT_TABLE)
    api.struct_size = offsetof(terse_api, stream_free);
#elif defined(MOCK_NULL_SLOT)
    api.decide_more = NULL;
#elif defined(MOCK_MAJOR_9)
    api.abi_major = 9;
#elif defined(MOCK_ABSURD_SIZE)
    api.struct_size = UINT32_MAX;
#elif defined(MOCK_ABSURD_EXCHANGE)
    api.exchange_size = UINT32_C(1) << 30;
#elif defined(MOCK_ZERO_EXCHANGE)
    api.exchange_size = 0;
#elif defined(MOCK_NULL_VERSION)
    api.version = NULL;
#elif defined(MOCK_OPEN_FAILS) || defined(MOCK_OPEN_SILENT) || defined(MOCK_NO_INSTANCE)
    api.open = wrong_open;
#elif defined(MOCK_MISSING_DEPENDENCY)
    api.exchange_size += (uint32_t)no_such_library();
#elif defined(MOCK_UNDEFINED_SYMBOL)
    api.exchange_size += (uint32_t)no_such_function();
#elif defined(MOCK_ODD)
    api.query = odd_query;
    api.self_test = odd_self_test;
#elif !defined(MOCK_GOOD)
#error "which mock?"
#endif
    return &api;
}
#endif

/* For the loader's test only: a real plugin exports nothing but its entry. */
__attribute__((visibility("default"))) int mock_instances(void);
int mock_instances(void)
{
#ifdef MOCK_BORROWED_ENTRY
    (void)terse_plugin_entry(TERSE_ABI_MAJOR); /* or the linker would drop the library */
#endif
    return tiny_open;
}
