/* SPDX-License-Identifier: MIT */
/* A host that opens the plugin while its codec symbols are not what they should be.
 * codec_host PLUGIN [WORDS]: open must fail with TERSE_E_LIBRARY and say WORDS; without WORDS it
 * must succeed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <terse.h>

#if defined(EXPORTS_DEFLATE_RESET)
/* What a host with a zlib of its own exports, in small. */
int deflateReset(void *z);

int deflateReset(void *z)
{
    return z ? 0 : 1;
}
#endif

#if defined(USES_ZLIB)
const char *zlibVersion(void);
#endif

int main(int argc, char **argv)
{
    const terse_host host = {.struct_size = sizeof host};
    terse_instance *instance = NULL;
    char why[300] = "";
    terse_entry_fn entry = NULL;
    const terse_api *api;
    terse_status status;
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = plugin ? dlsym(plugin, TERSE_ENTRY_NAME) : NULL;

#if defined(USES_ZLIB)
    printf("%s\n", zlibVersion()); /* so that the linker keeps the library */
#endif
    if (!symbol) {
        fprintf(stderr, "%s\n", plugin ? "no entry" : dlerror());
        return 1;
    }
    memcpy(&entry, &symbol, sizeof entry);
    api = entry(TERSE_ABI_MAJOR);
    status = api->open(&host, &instance, why, sizeof why);
    printf("%d %s\n", (int)status, why);
    if (argc == 2) {
        api->close(instance);
        return status != TERSE_OK;
    }
    return status != TERSE_E_LIBRARY || instance || !strstr(why, argv[2]);
}
