/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "say.h"
#include "session.h"
#include "settings_file.h"

static int take_plugin(void *state, const char *value)
{
    ((struct session_args *)state)->plugin = value;
    return 0;
}

static int take(struct session_args *args, const char *pair, const char *file)
{
    if (args->n_settings == SESSION_SETTINGS_MAX)
        return complain("more than %d settings: put them in a file", SESSION_SETTINGS_MAX);
    args->settings[args->n_settings].pair = pair;
    args->settings[args->n_settings].file = file;
    args->n_settings++;
    return 0;
}

static int take_set(void *state, const char *value)
{
    return take(state, value, NULL);
}

static int take_file(void *state, const char *value)
{
    return take(state, NULL, value);
}

const struct arg session_plugin_arg[] = {
    {"plugin", 0, "PATH", "the plugin to load, instead of the installed one", take_plugin},
    {NULL, 0, NULL, NULL, NULL},
};

const struct arg session_settings_args[] = {
    {"set", 0, "KEY=VALUE", "a setting; may be given more than once", take_set},
    {"settings", 0, "FILE", "a file of settings: lines \"key = value\"", take_file},
    {NULL, 0, NULL, NULL, NULL},
};

/* What the plugin has to say goes where complaints go; its start is no news here. */
static void log_line(void *data, int32_t level, const char *msg, size_t len)
{
    (void)data;
    if (level < TERSE_LOG_INFO)
        complain("%.*s", (int)(len < 1024 ? len : 1024), msg);
}

int session_load(struct session *s, const struct session_args *args)
{
    static const terse_host host = {.struct_size = sizeof host, .log = log_line};
    char why[TERSE_WHY_SIZE];
    if (terse_load(&s->plugin, args->plugin, &host, why, sizeof why) != 0)
        return complain("%s", why);
    return 0;
}

int session_new_policy(struct session *s)
{
    s->plugin.api->policy_unref(s->policy);
    s->policy = NULL;
    terse_status status = s->plugin.api->policy_new(s->plugin.instance, &s->policy);
    if (status >= 0)
        return 0;
    s->policy = NULL;
    return complain("%s", status_words(status));
}

int session_set(void *ctx, terse_str key, terse_str value, char *why, size_t why_len)
{
    const struct session *s = ctx;
    terse_status status = s->plugin.api->policy_set(s->policy, key, value, why, why_len);
    if (status < 0 && why_len > 0 && why[0] == '\0')
        strncat(why, status_words(status), why_len - 1);
    return status < 0 ? -1 : 0;
}

static int set_pair(struct session *s, const char *pair)
{
    char why[1024] = "";
    terse_str key, value;
    if (setting_split(pair, strlen(pair), &key, &value) != 0)
        return complain("--set %s: expected: KEY=VALUE", pair);
    if (session_set(s, key, value, why, sizeof why) != 0)
        return complain("--set: %s", why);
    return 0;
}

static int set_all(struct session *s, const struct session_args *args)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < args->n_settings; i++) {
        if (args->settings[i].pair && set_pair(s, args->settings[i].pair) != 0)
            wrong++;
        if (args->settings[i].file)
            settings_file_read(args->settings[i].file, session_set, s, &wrong);
    }
    return wrong ? -1 : 0;
}

int session_policy(struct session *s, const struct session_args *args)
{
    char why[1024] = "";
    if (session_load(s, args) != 0 || session_new_policy(s) != 0 || set_all(s, args) != 0)
        return -1;
    terse_status status = s->plugin.api->policy_seal(s->policy, why, sizeof why);
    if (status < 0)
        return complain("%s", why[0] ? why : status_words(status));
    return 0;
}

int session_open(struct session *s, const struct session_args *args)
{
    if (session_policy(s, args) != 0)
        return -1;
    terse_status status = s->plugin.api->pool_new(s->plugin.instance, s->policy, &s->pool);
    if (status >= 0)
        return 0;
    s->pool = NULL;
    return complain("%s", status_words(status));
}

void session_close(struct session *s)
{
    if (s->plugin.api) {
        s->plugin.api->pool_free(s->pool);
        s->plugin.api->policy_unref(s->policy);
    }
    s->pool = NULL;
    s->policy = NULL;
    terse_unload(&s->plugin);
}
