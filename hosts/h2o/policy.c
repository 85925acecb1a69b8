/* SPDX-License-Identifier: MIT */
/* Settings: every pair goes to the plugin as it is, and what it says of a refusal is the message.
 */
#include "shim.h"

#include <stdio.h>
#include <string.h>

static void words(char *why, size_t why_len, const char *what, terse_status status)
{
    if (why_len == 0)
        return;
    why[why_len - 1] = '\0';
    if (why[0] == '\0')
        snprintf(why, why_len, "%s (status %d)", what, (int)status);
}

int policy_pair(struct shim *s, terse_policy *policy, const char *key, const char *value, char *why,
                size_t why_len)
{
    if (why_len > 0)
        why[0] = '\0';
    terse_status status = s->plugin.api->policy_set(
        policy, (terse_str){key, strlen(key)}, (terse_str){value, strlen(value)}, why, why_len);
    if (status >= 0)
        return 0;
    words(why, why_len, "refused", status);
    return -1;
}

terse_policy *policy_start(struct shim *s, char *why, size_t why_len)
{
    terse_policy *policy = NULL;
    if (why_len > 0)
        why[0] = '\0';
    terse_status status = s->plugin.api->policy_new(s->plugin.instance, &policy);
    if (status >= 0)
        return policy;
    words(why, why_len, "no policy", status);
    return NULL;
}

terse_policy *policy_finish(struct shim *s, const terse_policy *outer, terse_policy *overlay,
                            char *why, size_t why_len)
{
    const terse_api *api = s->plugin.api;
    const terse_policy *const overlays[] = {overlay};
    terse_policy *derived = NULL;
    if (why_len > 0)
        why[0] = '\0';
    terse_status status = api->policy_seal(overlay, why, why_len);
    if (status >= 0 && !outer)
        return overlay;
    if (status >= 0)
        status = api->policy_derive(outer, overlays, 1, &derived);
    if (status < 0) {
        words(why, why_len, "refused", status);
        derived = NULL;
    }
    api->policy_unref(overlay);
    return derived;
}
