/* SPDX-License-Identifier: MIT */
/* The directives terse.enable, terse.params and terse.plugin. */
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ENABLE, KEY_PARAMS, KEY_PLUGIN };

/* terse.plugin is server-wide; its scope is checked here, so that it takes one line to say so. */
static const config_plugin_keys_t directives[] = {
    {CONST_STR_LEN("terse.enable"), T_CONFIG_BOOL, T_CONFIG_SCOPE_CONNECTION},
    {CONST_STR_LEN("terse.params"), T_CONFIG_ARRAY_KVANY, T_CONFIG_SCOPE_CONNECTION},
    {CONST_STR_LEN("terse.plugin"), T_CONFIG_STRING, T_CONFIG_SCOPE_CONNECTION},
    {NULL, 0, T_CONFIG_UNSET, T_CONFIG_SCOPE_UNSET},
};

/* What block i of the configuration says; the first is the global one.  NULL: nothing. */
static const config_plugin_value_t *values_of(const struct shim *s, int i)
{
    const config_plugin_value_t *head = s->cvlist + i;
    if (i >= s->nconfig || (i == 0 && head->v.u2[1] == 0))
        return NULL;
    return s->cvlist + head->v.u2[0];
}

static const config_plugin_value_t *value_of(const config_plugin_value_t *v, int key)
{
    for (; v && v->k_id != -1; v++)
        if (v->k_id == key)
            return v;
    return NULL;
}

/* ---- before chroot() ---------------------------------------------------------------------- */

static void log_for_plugin(void *data, int32_t level, const char *msg, size_t len)
{
    const struct shim *s = data;
    static const char *const words[] = {"error: ", "warning: ", ""};
    const char *word = level >= TERSE_LOG_ERROR && level <= TERSE_LOG_INFO ? words[level] : "";
    log_error(s->srv->errh, AT, "%s%.*s", word, (int)(len < 2000 ? len : 2000), msg);
}

/* The error log is not open yet: why is kept for config_apply. */
handler_t config_load(server *srv, struct shim *s)
{
    s->srv = srv;
    s->host = (terse_host){.struct_size = sizeof s->host, .data = s, .log = log_for_plugin};
    if (!config_plugin_values_init(srv, s, directives, "mod_terse"))
        return HANDLER_ERROR;
    const config_plugin_value_t *path = value_of(values_of(s, 0), KEY_PLUGIN);
    if (terse_load(&s->plugin, path ? path->v.b->ptr : NULL, &s->host, s->why, sizeof s->why) == 0)
        s->why[0] = '\0';
    return HANDLER_GO_ON;
}

/* ---- after it ----------------------------------------------------------------------------- */

/* The block as it is written in the configuration. */
static void name_block(char *name, size_t size, int context)
{
    config_cond_info info;
    if (context == 0) {
        snprintf(name, size, "the global scope");
        return;
    }
    memset(&info, 0, sizeof info);
    config_get_config_cond_info(&info, (uint32_t)context);
    snprintf(name, size, "%s", info.comp_key);
}

__attribute__((format(printf, 4, 5))) static void refuse(const struct shim *s, int key, int context,
                                                         const char *format, ...)
{
    char block[512], words[TERSE_WHY_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    name_block(block, sizeof block, context);
    log_error(s->srv->errh, AT, "%s in %s: %s", directives[key].k, block, words);
}

/* A pair's value as text; an integer is written into number. */
static bool text_of(const data_unset *pair, char *number, size_t size, terse_str *text)
{
    if (pair->type == TYPE_STRING) {
        const buffer *value = &((const data_string *)pair)->value;
        *text = (terse_str){value->ptr ? value->ptr : "", buffer_clen(value)};
        return true;
    }
    if (pair->type == TYPE_INTEGER) {
        int n = snprintf(number, size, "%d", ((const data_integer *)pair)->value);
        *text = (terse_str){number, (size_t)n};
        return true;
    }
    return false;
}

static bool set_pair(const struct shim *s, terse_policy *policy, const data_unset *pair,
                     int context)
{
    char number[24], why[TERSE_WHY_SIZE] = "";
    terse_str key = {pair->key.ptr, buffer_clen(&pair->key)}, value;
    if (!text_of(pair, number, sizeof number, &value)) {
        refuse(s, KEY_PARAMS, context, "%s takes a string or an integer", key.ptr);
        return false;
    }
    terse_status status = api_of(s)->policy_set(policy, key, value, why, sizeof why);
    if (status >= 0)
        return true;
    why[sizeof why - 1] = '\0';
    if (why[0])
        refuse(s, KEY_PARAMS, context, "%s", why);
    else
        refuse(s, KEY_PARAMS, context, "%s: refused (status %d)", key.ptr, (int)status);
    return false;
}

static bool seal(const struct shim *s, terse_policy *policy, int context)
{
    char why[TERSE_WHY_SIZE] = "";
    terse_status status = api_of(s)->policy_seal(policy, why, sizeof why);
    why[sizeof why - 1] = '\0';
    if (status < 0)
        refuse(s, KEY_PARAMS, context, "%s (status %d)", why[0] ? why : "refused", (int)status);
    return status >= 0;
}

/* The policy of one block's params, or of the defaults when it has none. */
static terse_policy *make_policy(const struct shim *s, const config_plugin_value_t *params,
                                 int context)
{
    terse_policy *policy = NULL;
    bool good = true;
    terse_status status = api_of(s)->policy_new(s->plugin.instance, &policy);
    if (status < 0) {
        refuse(s, KEY_PARAMS, context, "no policy (status %d)", (int)status);
        return NULL;
    }
    for (uint32_t i = 0; params && i < params->v.a->used; i++)
        good = set_pair(s, policy, params->v.a->data[i], context) && good;
    if (good && seal(s, policy, context))
        return policy;
    api_of(s)->policy_unref(policy);
    return NULL;
}

static bool apply_global(struct shim *s)
{
    const config_plugin_value_t *values = values_of(s, 0);
    const config_plugin_value_t *enable = value_of(values, KEY_ENABLE);
    s->scopes.enable = enable && enable->v.u != 0;
    s->scopes.base = make_policy(s, value_of(values, KEY_PARAMS), 0);
    return s->scopes.base != NULL;
}

static bool apply_block(struct shim *s, int i)
{
    struct scopes *scopes = &s->scopes;
    struct scope *block = &scopes->blocks[scopes->n_blocks++];
    const config_plugin_value_t *values = values_of(s, i);
    const config_plugin_value_t *enable = value_of(values, KEY_ENABLE);
    const config_plugin_value_t *params = value_of(values, KEY_PARAMS);
    *block = (struct scope){
        .context = s->cvlist[i].k_id, .enable = enable ? enable->v.u != 0 : -1, .overlay = -1};
    if (value_of(values, KEY_PLUGIN)) {
        refuse(s, KEY_PLUGIN, block->context, "it belongs into the global scope");
        return false;
    }
    if (!params)
        return true;
    terse_policy *policy = make_policy(s, params, block->context);
    if (!policy)
        return false;
    block->overlay = scopes->n_overlays;
    scopes->overlays[scopes->n_overlays++] = policy;
    return true;
}

handler_t config_apply(server *srv, struct shim *s)
{
    bool good = true;
    if (!s->plugin.api) {
        log_error(srv->errh, AT, "%s: %s", directives[KEY_PLUGIN].k, s->why);
        return HANDLER_ERROR;
    }
    if (scopes_prepare(&s->scopes, (uint32_t)s->nconfig) != 0) {
        log_error(srv->errh, AT, "out of memory");
        return HANDLER_ERROR;
    }
    good = apply_global(s);
    for (int i = 1; i < s->nconfig; i++)
        good = apply_block(s, i) && good;
    return good ? HANDLER_GO_ON : HANDLER_ERROR;
}
