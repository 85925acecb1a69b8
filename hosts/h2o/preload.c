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

#include "patch.h"

#define HOOKED "h2o_compress_register_configurator"
#define SHIM "terse-h2o.so"
#define ALL_LEVELS 0xf /* H2O_CONFIGURATOR_FLAG_ALL_LEVELS */

typedef void (*register_fn)(void *conf);
typedef int (*attach_fn)(void *conf, char *why, size_t why_len);
typedef void *(*create_fn)(void *conf, size_t size);
typedef void (*define_fn)(void *configurator, const char *name, int flags,
                          int (*command)(void *, void *, void *));

static struct patch patch;

/* The server goes on without Terse, unless the operator would rather have no server. */
static void trouble(const char *words)
{
    const char *strict = getenv("TERSE_STRICT");
    bool stop = strict && strcmp(strict, "1") == 0;
    fprintf(stderr, "[terse] %s; %s\n", words,
            stop ? "not started (TERSE_STRICT=1)" : "h2o runs without Terse");
    if (stop)
        _exit(EXIT_FAILURE);
}

static void *find(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    (void)dlerror(); /* leave no message of ours to others */
    return symbol;
}

/* ---- without Terse ----------------------------------------------------------------------------
 */

static int ignore(void *command, void *ctx, void *node)
{
    (void)command;
    (void)ctx;
    (void)node;
    return 0;
}

/* Its commands are in the configuration all the same: the server is to pass them over. */
static void ignore_commands(void *conf)
{
    void *create_symbol = find("h2o_configurator_create");
    void *define_symbol = find("h2o_configurator_define_command");
    create_fn create;
    define_fn define;
    if (!create_symbol || !define_symbol)
        return;
    memcpy(&create, &create_symbol, sizeof create);
    memcpy(&define, &define_symbol, sizeof define);
    void *configurator = create(conf, 4096); /* more than any version's has */
    define(configurator, "terse", ALL_LEVELS, ignore);
    define(configurator, "terse.plugin", ALL_LEVELS, ignore);
}

/* ---- with it ----------------------------------------------------------------------------------
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
    bool restored = patch_restore(&patch);
    if (!restored) { /* cannot be: it was written the same way */
        trouble("what was hooked cannot be put back");
        _exit(EXIT_FAILURE);
    }
    memcpy(&original, &patch.target, sizeof original);
    original(conf);
    if (attach(conf, why, sizeof why))
        return;
    trouble(why);
    ignore_commands(conf);
}

/* ---- is this h2o? -----------------------------------------------------------------------------
 */

/* The address and length of a function of the program itself; NULL when it has or shows none. */
static void *own_function(const char *name, size_t *size)
{
    void *symbol = find(name), *entry = (void *)getauxval(AT_ENTRY);
    Dl_info of_symbol, of_program;
    const ElfW(Sym) *details = NULL;
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
