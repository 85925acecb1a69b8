/* SPDX-License-Identifier: MIT */
/* A plugin that is loaded and set up: the part of a shim that every command begins with. */
#ifndef TERSE_CLI_SESSION_H
#define TERSE_CLI_SESSION_H

#include "args.h"
#include "loader.h"

#define SESSION_SETTINGS_MAX 64

/* What the command line says of plugin and settings, in the order given. */
struct session_args {
    const char *plugin; /* NULL: the installed one */
    struct {
        const char *pair; /* "key=value", or NULL */
        const char *file; /* a file of settings, or NULL */
    } settings[SESSION_SETTINGS_MAX];
    unsigned n_settings;
};

struct session {
    struct terse_plugin plugin;
    terse_policy *policy; /* sealed */
    terse_pool *pool;
};

/* Options for these; a command's state begins with a struct session_args. */
extern const struct arg session_plugin_arg[];    /* --plugin */
extern const struct arg session_settings_args[]; /* --set, --settings */

/* Each of these complains of what goes wrong; 0 or -1.  session_close ends whatever there is. */
int session_load(struct session *s, const struct session_args *args);
/* Also the policy, sealed, with the settings of the command line. */
int session_policy(struct session *s, const struct session_args *args);
/* Also a pool. */
int session_open(struct session *s, const struct session_args *args);
void session_close(struct session *s);

/* A setting_fn; ctx is a struct session with an unsealed policy. */
int session_set(void *ctx, terse_str key, terse_str value, char *why, size_t why_len);
/* A new, unsealed policy in place of the one that is there. */
int session_new_policy(struct session *s);

#endif
