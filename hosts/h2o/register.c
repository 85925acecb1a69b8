/* SPDX-License-Identifier: MIT */
/* For programs over libh2o, and for the bootstrap of the stock binary. */
#include "terse-h2o.h"

#include "shim.h"

static terse_policy *policy_of(struct shim *s, const char *const *pairs, char *why, size_t why_len)
{
    terse_policy *policy = policy_start(s, why, why_len);
    for (size_t i = 0; policy && pairs && pairs[i] && pairs[i + 1]; i += 2)
        if (policy_pair(s, policy, pairs[i], pairs[i + 1], why, why_len) != 0) {
            s->plugin.api->policy_unref(policy);
            return NULL;
        }
    return policy ? policy_finish(s, s->base, policy, why, why_len) : NULL;
}

EXPORT int terse_h2o_register(h2o_pathconf_t *pathconf, const char *plugin,
                              const char *const *pairs, char *why, size_t why_len)
{
    struct shim *s = shim_take(pathconf->global);
    terse_policy *policy = NULL;
    if (shim_load(s, s->plugin.api ? NULL : plugin, why, why_len) == 0)
        policy = policy_of(s, pairs, why, why_len);
    if (policy) {
        shim_add(s, pathconf, policy);
        s->plugin.api->policy_unref(policy);
    }
    shim_release(s);
    return policy ? 0 : -1;
}

EXPORT int terse_h2o_attach(h2o_globalconf_t *conf, char *why, size_t why_len)
{
    if (guard_check(conf, why, why_len) != 0)
        return -1;
    terse_h2o_register_configurator(conf);
    return 0;
}
