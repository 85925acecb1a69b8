/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "table.h"
#include "why.h"

#define TABLE_MAX 65536u
#define EXCHANGE_MAX 65536u
#define STRING_MAX 128u

struct slot {
    const char *name;
    size_t offset;
};

/* clang-format off */
#define SLOT(name) {#name, offsetof(terse_api, name)}
/* clang-format on */

/* The slots of the floor, TERSE_API_SIZE_V0: a later one may be missing. */
static const struct slot floor_slots[] = {
    SLOT(query),         SLOT(open),        SLOT(close),        SLOT(info),
    SLOT(self_test),     SLOT(policy_new),  SLOT(policy_set),   SLOT(policy_seal),
    SLOT(policy_derive), SLOT(policy_ref),  SLOT(policy_unref), SLOT(negotiator),
    SLOT(negotiate),     SLOT(pool_new),    SLOT(pool_free),    SLOT(pool_tick),
    SLOT(pool_counter),  SLOT(pool_lend),   SLOT(pool_return),  SLOT(request),
    SLOT(decide),        SLOT(decide_more), SLOT(encode_whole), SLOT(exchange_end),
    SLOT(stream_open),   SLOT(stream_run),  SLOT(stream_free),
};

#define FLOOR_SLOTS (sizeof floor_slots / sizeof floor_slots[0])
_Static_assert(offsetof(terse_api, query) + FLOOR_SLOTS * sizeof(void (*)(void)) ==
                   TERSE_API_SIZE_V0,
               "floor_slots lists every slot of the floor");

static bool slot_filled(const terse_api *api, size_t offset)
{
    void (*slot)(void);
    memcpy(&slot, (const char *)api + offset, sizeof slot);
    return slot != NULL;
}

/* Short, printable and terminated: it goes into log lines. */
static bool string_fits(const char *s)
{
    size_t len = 0;
    if (!s)
        return false;
    for (; len < STRING_MAX && s[len] != '\0'; len++)
        if ((unsigned char)s[len] < 0x20 || (unsigned char)s[len] > 0x7e)
            return false;
    return len > 0 && len < STRING_MAX;
}

static int check_size(const terse_api *api, const char *path, char *why, size_t why_len)
{
    /* the first two fields stand in every major; nothing behind them is read before they fit */
    if (api->struct_size >= offsetof(terse_api, caps) && api->abi_major != TERSE_ABI_MAJOR)
        return terse_why(why, why_len, path, "its table is of ABI %u.%u, this host speaks ABI %u",
                         (unsigned)api->abi_major, (unsigned)api->abi_minor, TERSE_ABI_MAJOR);
    if (api->struct_size < TERSE_API_SIZE_V0)
        return terse_why(why, why_len, path,
                         "its table is too short: %u bytes, at least %zu needed",
                         (unsigned)api->struct_size, (size_t)TERSE_API_SIZE_V0);
    if (api->struct_size > TABLE_MAX)
        return terse_why(why, why_len, path, "its table has an absurd size: %u bytes",
                         (unsigned)api->struct_size);
    return 0;
}

int terse_table_check(const terse_api *api, const char *path, char *why, size_t why_len)
{
    if (check_size(api, path, why, why_len) != 0)
        return -1;
    for (size_t i = 0; i < FLOOR_SLOTS; i++)
        if (!slot_filled(api, floor_slots[i].offset))
            return terse_why(why, why_len, path, "slot %s of its table is empty",
                             floor_slots[i].name);
    if (api->exchange_size == 0 || api->exchange_size > EXCHANGE_MAX)
        return terse_why(why, why_len, path,
                         "it wants %u bytes for an exchange, 1 to %u are allowed",
                         (unsigned)api->exchange_size, EXCHANGE_MAX);
    if (!string_fits(api->version))
        return terse_why(why, why_len, path, "it has no version that can be shown");
    if (!string_fits(api->build))
        return terse_why(why, why_len, path, "it has no build id that can be shown");
    return 0;
}
