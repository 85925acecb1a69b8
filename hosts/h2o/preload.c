/* SPDX-License-Identifier: MIT */
/* Bootstrap for the stock h2o, which loads no modules: preloaded, it waits for the server to
 * register its commands, and registers Terse's with them.  It names no symbol of H2O's, so that
 * every other program that is started in the same environment runs as ever. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "passover.h"
#include "patch.h"

#define HOOKED "h2o_compress_register_configurator"
#define SHIM "terse-h2o.so"

typedef void (*register_fn)(void *conf);
typedef int (*attach_fn)(void *conf, char *why, size_t why_len);

static struct patch patch;

static void stop(const char *words, const char *reason)
{
    fprintf(stderr, "[terse] %s; not started%s\n", words, reason);
    _exit(EXIT_FAILURE);
}

/* The server goes on without Terse, unless the operator would rather have no server.  What its
 * configuration says of Terse is passed over, where that can be. */
static void trouble(const char *words)
{
    const char *strict = getenv("TERSE_STRICT");
    if (strict && strcmp(strict, "1") == 0)
        stop(words, " (TERSE_STRICT=1)");
    fprintf(stderr, "[terse] %s; h2o runs without Terse%s\n", words,
            passover_install() ? "" : ", once `terse` is taken out of its configuration");
}

/* ---- with Terse -------------------------------------------------------------------------------
 */

/* The shim lies in the folder of this file. */
static bool shim_path(char *path, size_t size)
{
    Dl_info own;
    if (dladdr((void *)&patch, &own) == 0 || !own.dli_fname || own.dli_fname[0] != '/')
        return false;
    size_t len = (size_t)(strrchr(own.dli_fname, '/') - own.dli_fname);
    int n = snprintf(path, size, "%.*s/" SHIM, (int)len, own.dli_fname);
    return n > 0 && (size_t)n < size;
}

static bool attach(void *conf, char *why, size_t why_len)
{
    char path[4096];
    if (!shim_path(path, sizeof path)) {
        snprintf(why, why_len, "LD_PRELOAD must name this file by an absolute path");
        return false;
    }
    void *shim = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = shim ? dlsym(shim, "terse_h2o_attach") : NULL;
    attach_fn function;
    if (!symbol) {
        const char *words = dlerror();
        snprintf(why, why_len, "%s", words ? words : path);
        return false;
    }
    memcpy(&function, &symbol, sizeof function);
    if (function(conf, why, why_len) == 0)
        return true;
    dlclose(shim);
    return false;
}

/* Runs in place of what it hooks, once. */
static void hook(void *conf)
{
    register_fn original;
    char why[4096 + 256] = "";
    if (!patch_restore(&patch)) /* cannot be: it was written the same way */
        stop("what was hooked cannot be put back", "");
    memcpy(&original, &patch.target, sizeof original);
    original(conf);
    if (!attach(conf, why, sizeof why))
        trouble(why); /* no configuration has been read yet */
}

/* ---- is this h2o? -----------------------------------------------------------------------------
 */

/* The address and length of a function of the program itself; NULL when it has or shows none. */
static void *own_function(const char *name, size_t *size)
{
    void *symbol = dlsym(RTLD_DEFAULT, name), *entry = (void *)getauxval(AT_ENTRY);
    Dl_info of_symbol, of_program;
    const ElfW(Sym) *details = NULL;
    (void)dlerror(); /* leave no message of ours to others */
    if (!symbol || dladdr1(symbol, &of_symbol, (void **)&details, RTLD_DL_SYMENT) == 0 ||
        !details || dladdr(entry, &of_program) == 0 || of_symbol.dli_fbase != of_program.dli_fbase)
        return NULL;
    *size = details->st_size;
    return symbol;
}

static bool is_named_h2o(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/h2o") == 0;
}

__attribute__((constructor)) static void start(void)
{
    size_t size = 0;
    void *target = own_function(HOOKED, &size);
    register_fn replacement = hook;
    void *to;
    if (!target) {
        if (is_named_h2o())
            trouble("this h2o does not export its functions");
        return;
    }
    memcpy(&to, &replacement, sizeof to);
    const char *why = patch_write(&patch, target, size, to);
    if (why)
        trouble(why);
}
