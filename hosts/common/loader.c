/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "loader.h"
#include "module_file.h"
#include "table.h"
#include "why.h"

/* Opens the resolved path, never a link: a path that was opened before gives the old code (A12). */
static int open_module(struct terse_plugin *p, char *why, size_t why_len)
{
    p->handle = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
    if (p->handle)
        return 0;
    const char *words = dlerror();
    size_t len = strlen(p->path);
    if (!words)
        words = "no reason given";
    else if (strncmp(words, p->path, len) == 0 && strncmp(words + len, ": ", 2) == 0)
        words += len + 2; /* the path is said once */
    return terse_why(why, why_len, p->path, "cannot be loaded: %s", words);
}

/* dlsym() looks through what the module is linked with too, the host's own libraries included. */
static int own_symbol(const struct terse_plugin *p, const void *symbol)
{
    Dl_info where;
    struct link_map *map;
    return dlinfo(p->handle, RTLD_DI_LINKMAP, &map) == 0 && dladdr(symbol, &where) != 0 &&
           where.dli_fname && strcmp(where.dli_fname, map->l_name) == 0;
}

static int find_table(struct terse_plugin *p, char *why, size_t why_len)
{
    terse_entry_fn entry;
    void *symbol = dlsym(p->handle, TERSE_ENTRY_NAME);
    if (!symbol || !own_symbol(p, symbol))
        return terse_why(why, why_len, p->path, "not a plugin: it has no %s", TERSE_ENTRY_NAME);
    memcpy(&entry, &symbol, sizeof entry);
    const terse_api *api = entry(TERSE_ABI_MAJOR);
    if (!api)
        return terse_why(why, why_len, p->path, "it does not speak ABI %u", TERSE_ABI_MAJOR);
    if (terse_table_check(api, p->path, why, why_len) != 0)
        return -1;
    p->api = api;
    return 0;
}

static int open_instance(struct terse_plugin *p, const terse_host *host, char *why, size_t why_len)
{
    char words[TERSE_WHY_SIZE] = "";
    terse_status status = p->api->open(host, &p->instance, words, sizeof words);
    words[sizeof words - 1] = '\0';
    if (status < 0) {
        p->instance = NULL;
        return terse_why(why, why_len, p->path, "version %s does not start: %s (status %d)",
                         p->api->version, words[0] ? words : "no reason given", (int)status);
    }
    if (!p->instance)
        return terse_why(why, why_len, p->path, "version %s gave no instance", p->api->version);
    return 0;
}

/* A refusal ends it: whichever check fails, there is no other way in. */
static int load(struct terse_plugin *p, const char *configured, const terse_host *host, char *why,
                size_t why_len)
{
    if (terse_find(configured, p->path, sizeof p->path, why, why_len) != 0)
        return -1;
    if (terse_module_file_check(p->path, why, why_len) != 0)
        return -1;
    if (open_module(p, why, why_len) != 0)
        return -1;
    if (find_table(p, why, why_len) != 0)
        return -1;
    return open_instance(p, host, why, why_len);
}

int terse_load(struct terse_plugin *p, const char *configured, const terse_host *host, char *why,
               size_t why_len)
{
    memset(p, 0, sizeof *p);
    if (load(p, configured, host, why, why_len) == 0)
        return 0;
    terse_unload(p);
    return -1;
}

static int stays_mapped(void)
{
    const char *value = getenv("TERSE_NO_DLCLOSE");
    return value && strcmp(value, "1") == 0;
}

void terse_unload(struct terse_plugin *p)
{
    if (p->instance)
        p->api->close(p->instance);
    if (p->handle && !stays_mapped())
        dlclose(p->handle);
    memset(p, 0, sizeof *p);
}
