/* SPDX-License-Identifier: MIT */
/* Finds, checks and opens a plugin.  Compiled into every shim; knows abi/terse.h only. */
#ifndef TERSE_LOADER_H
#define TERSE_LOADER_H

#include <stddef.h>

#include <terse.h>

#define TERSE_PATH_SIZE 4096
#define TERSE_WHY_SIZE 1024 /* room for any line that terse_load gives */

struct terse_plugin {
    void *handle;
    const terse_api *api;
    terse_instance *instance;
    char path[TERSE_PATH_SIZE]; /* resolved: the file that was loaded, its version in its name */
};

/* Loads the plugin that configured names (an absolute path), or the installed one when it is NULL
 * or empty, and opens it for host.  0, or -1 with one line in why that names the path and the
 * reason; then *p is all zero, the plugin is gone again, and nothing else is tried.
 * Not on the request path: one thread at a time. */
int terse_load(struct terse_plugin *p, const char *configured, const terse_host *host, char *why,
               size_t why_len);

/* Closes the instance and unloads the plugin; policies and pools are gone before.  An all-zero *p
 * is fine, and is what it leaves.  TERSE_NO_DLCLOSE=1 in the environment keeps the code mapped, for
 * tools that name functions after the fact. */
void terse_unload(struct terse_plugin *p);

#endif
