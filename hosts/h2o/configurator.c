/* SPDX-License-Identifier: MIT */
/* The commands `terse` and `terse.plugin`. */
#include <h2o.h>
#include <h2o/configurator.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shim.h"
#include "terse-h2o.h"

/* What holds at one level of the configuration. */
struct level {
    terse_policy *policy; /* counted; NULL until the plugin is loaded */
    bool on;
    bool stock; /* the server's own coding is on */
};

struct configurator {
    h2o_configurator_t super;
    struct shim *shim;
    struct level *level, levels[H2O_CONFIGURATOR_NUM_LEVELS + 2];
    size_t n_paths; /* where Terse is on */
    size_t n_both;  /* and the server's own coding too */
};

/* ---- terse.plugin --------------------------------------------------------------------------- */

static int on_plugin(h2o_configurator_command_t *cmd, h2o_configurator_context_t *ctx, yoml_t *node)
{
    struct configurator *c = (struct configurator *)cmd->configurator;
    char why[TERSE_WHY_SIZE];
    (void)ctx;
    if (shim_load(c->shim, node->data.scalar, why, sizeof why) == 0)
        return 0;
    h2o_configurator_errprintf(cmd, node, "%s", why);
    return -1;
}

/* ---- terse ---------------------------------------------------------------------------------- */

static bool need_plugin(struct configurator *c, h2o_configurator_command_t *cmd, yoml_t *node)
{
    char why[TERSE_WHY_SIZE];
    if (shim_load(c->shim, NULL, why, sizeof why) != 0) {
        h2o_configurator_errprintf(cmd, node, "%s", why);
        return false;
    }
    if (!c->level->policy) {
        c->level->policy = c->shim->base;
        c->shim->plugin.api->policy_ref(c->level->policy);
    }
    return true;
}

static bool set_pair(struct configurator *c, h2o_configurator_command_t *cmd, terse_policy *policy,
                     const yoml_mapping_element_t *pair)
{
    char why[TERSE_WHY_SIZE];
    if (pair->key->type != YOML_TYPE_SCALAR || pair->value->type != YOML_TYPE_SCALAR) {
        h2o_configurator_errprintf(cmd, pair->key, "%s: its value must be a scalar",
                                   pair->key->type == YOML_TYPE_SCALAR ? pair->key->data.scalar
                                                                       : "a setting");
        return false;
    }
    if (policy_pair(c->shim, policy, pair->key->data.scalar, pair->value->data.scalar, why,
                    sizeof why) == 0)
        return true;
    h2o_configurator_errprintf(cmd, pair->value, "%s", why);
    return false;
}

/* Lays the pairs over what holds outside. */
static bool add_pairs(struct configurator *c, h2o_configurator_command_t *cmd, yoml_t *node)
{
    char why[TERSE_WHY_SIZE];
    bool good = true;
    terse_policy *overlay = policy_start(c->shim, why, sizeof why), *policy = NULL;
    for (size_t i = 0; overlay && i < node->data.mapping.size; i++)
        good = set_pair(c, cmd, overlay, &node->data.mapping.elements[i]) && good;
    if (overlay && !good) {
        c->shim->plugin.api->policy_unref(overlay);
        return false;
    }
    if (overlay)
        policy = policy_finish(c->shim, c->level->policy, overlay, why, sizeof why);
    if (!policy) {
        h2o_configurator_errprintf(cmd, node, "%s", why);
        return false;
    }
    c->shim->plugin.api->policy_unref(c->level->policy);
    c->level->policy = policy;
    return true;
}

static int on_terse(h2o_configurator_command_t *cmd, h2o_configurator_context_t *ctx, yoml_t *node)
{
    struct configurator *c = (struct configurator *)cmd->configurator;
    (void)ctx;
    if (node->type == YOML_TYPE_SCALAR && strcasecmp(node->data.scalar, "OFF") == 0) {
        c->level->on = false;
        return 0;
    }
    if (node->type != YOML_TYPE_MAPPING &&
        (node->type != YOML_TYPE_SCALAR || strcasecmp(node->data.scalar, "ON") != 0)) {
        h2o_configurator_errprintf(cmd, node, "the argument must be ON, OFF, or a mapping");
        return -1;
    }
    if (!need_plugin(c, cmd, node))
        return -1;
    c->level->on = true;
    return node->type == YOML_TYPE_MAPPING && !add_pairs(c, cmd, node) ? -1 : 0;
}

/* ---- levels --------------------------------------------------------------------------------- */

/* Whether this level switches the server's own coding; it keeps what was said to itself. */
static void look_for_stock(struct level *level, const yoml_t *node)
{
    if (!node || node->type != YOML_TYPE_MAPPING)
        return;
    for (size_t i = 0; i < node->data.mapping.size; i++) {
        const yoml_t *key = node->data.mapping.elements[i].key;
        const yoml_t *value = node->data.mapping.elements[i].value;
        if (key->type != YOML_TYPE_SCALAR ||
            (strcmp(key->data.scalar, "compress") != 0 && strcmp(key->data.scalar, "gzip") != 0))
            continue;
        level->stock =
            value->type != YOML_TYPE_SCALAR || strcasecmp(value->data.scalar, "OFF") != 0;
    }
}

static int on_enter(h2o_configurator_t *self, h2o_configurator_context_t *ctx, yoml_t *node)
{
    struct configurator *c = (struct configurator *)self;
    (void)ctx;
    c->level[1] = c->level[0];
    c->level++;
    if (c->level->policy)
        c->shim->plugin.api->policy_ref(c->level->policy);
    look_for_stock(c->level, node);
    return 0;
}

static void say_start(const struct configurator *c)
{
    if (c->n_paths == 0)
        return;
    notes_start(c->shim);
    if (c->n_both)
        fprintf(stderr,
                "[terse] compress is ON as well in %zu of %zu paths: each response is coded once, "
                "one of the two is enough\n",
                c->n_both, c->n_paths);
}

/* The threads' pools are made when all has been read. */
static void keep_for_pools(const struct configurator *c)
{
    terse_policy *policy = c->level->policy;
    if (!policy)
        return;
    c->shim->plugin.api->policy_ref(policy);
    if (c->shim->pools)
        c->shim->plugin.api->policy_unref(c->shim->pools);
    c->shim->pools = policy;
}

static int on_exit_level(h2o_configurator_t *self, h2o_configurator_context_t *ctx, yoml_t *node)
{
    struct configurator *c = (struct configurator *)self;
    (void)node;
    if (ctx->pathconf && c->level->on) {
        shim_add(c->shim, ctx->pathconf, c->level->policy);
        c->n_paths++;
        c->n_both += c->level->stock;
    }
    if (!ctx->parent && !ctx->dry_run)
        say_start(c);
    if (!ctx->parent)
        keep_for_pools(c);
    if (c->level->policy)
        c->shim->plugin.api->policy_unref(c->level->policy);
    *c->level-- = (struct level){NULL, false, false};
    return 0;
}

/* H2O 2.2 calls it twice. */
static int on_dispose(h2o_configurator_t *self)
{
    struct configurator *c = (struct configurator *)self;
    if (c->shim)
        shim_release(c->shim);
    c->shim = NULL;
    return 0;
}

EXPORT void terse_h2o_register_configurator(h2o_globalconf_t *conf)
{
    struct configurator *c = (struct configurator *)h2o_configurator_create(conf, sizeof *c);
    c->super.enter = on_enter;
    c->super.exit = on_exit_level;
    c->super.dispose = on_dispose;
    c->shim = shim_take(conf);
    c->level = c->levels;
    h2o_configurator_define_command(
        &c->super, "terse.plugin",
        H2O_CONFIGURATOR_FLAG_GLOBAL | H2O_CONFIGURATOR_FLAG_EXPECT_SCALAR, on_plugin);
    /* after terse.plugin, wherever it is written, and before hosts and paths */
    h2o_configurator_define_command(
        &c->super, "terse", H2O_CONFIGURATOR_FLAG_ALL_LEVELS | H2O_CONFIGURATOR_FLAG_SEMI_DEFERRED,
        on_terse);
}
