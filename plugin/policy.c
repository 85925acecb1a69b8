/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <stdlib.h>
#include <string.h>

#include "entity_tag.h"
#include "errno_keep.h"
#include "instance.h"
#include "plugin_config.h"
#include "settings_parse.h"
#include "text.h"

/* Zeroed and counted once; errno is the host's. */
static terse_policy *policy_alloc(void)
{
    int saved = errno;
    terse_policy *policy = calloc(1, sizeof *policy);

    errno_keep(saved);
    if (policy)
        atomic_init(&policy->count, 1);
    return policy;
}

static uint32_t made_by(const terse_instance *instance)
{
    uint32_t hash = entity_tag_hash(ENTITY_TAG_SEED, TERSE_VERSION, sizeof TERSE_VERSION);

    for (uint32_t i = 0; i < instance->n_libraries; i++) {
        const struct library *l = &instance->libraries[i];

        hash = entity_tag_hash(hash, l->name, strlen(l->name) + 1);
        hash = entity_tag_hash(hash, l->version, strlen(l->version) + 1);
    }
    return hash;
}

terse_status policy_new(terse_instance *instance, terse_policy **out)
{
    terse_policy *policy;
    terse_status status;

    if (!instance || !out)
        return TERSE_E_ARG;
    policy = policy_alloc();
    if (!policy)
        return TERSE_E_NOMEM;
    status = settings_init(&policy->settings);
    if (status < 0) {
        free(policy);
        return status;
    }
    policy->made_by = made_by(instance);
    *out = policy;
    return TERSE_OK;
}

terse_status policy_set(terse_policy *policy, terse_str key, terse_str value, char *why,
                        size_t why_len)
{
    bool optional = key.len && key.ptr[0] == '?'; /* "only if this plugin knows it" */
    terse_status status;
    uint32_t index;

    if (!policy || (!key.ptr && key.len) || (!value.ptr && value.len))
        return TERSE_E_ARG;
    if (policy->sealed) {
        text_why(why, why_len, "the policy is sealed");
        return TERSE_E_STATE;
    }
    if (optional) {
        key.ptr++;
        key.len--;
    }
    index = settings_find(key.ptr, key.len);
    if (index == UINT32_MAX) {
        if (optional)
            return TERSE_OK;
        settings_unknown(key, why, why_len);
        return TERSE_E_KEY;
    }
    status = setting_parse(settings_at(index), &policy->settings, value, why, why_len);
    if (status >= 0)
        policy->set |= UINT64_C(1) << index;
    return status;
}

static void compile_tags(terse_policy *policy)
{
    const struct settings *s = &policy->settings;
    uint32_t hash = entity_tag_hash(policy->made_by, s->level, sizeof s->level);

    hash = entity_tag_hash(hash, &s->slice, sizeof s->slice);
    policy->tag_salt = entity_tag_hash(hash, &s->gzip_engine, sizeof s->gzip_engine);
}

/* What is the same for all requests. */
static void compile(terse_policy *policy)
{
    const struct settings *s = &policy->settings;

    memcpy(policy->negotiator.order, s->codings, sizeof s->codings);
    policy->negotiator.n_order = s->n_codings;
    policy->negotiator.prefer = s->prefer;
    common_fields_compile(&policy->negotiator);
    compile_tags(policy);
}

terse_status policy_seal(terse_policy *policy, char *why, size_t why_len)
{
    if (!policy)
        return TERSE_E_ARG;
    if (policy->sealed) {
        text_why(why, why_len, "the policy is sealed already");
        return TERSE_E_STATE;
    }
    compile(policy);
    policy->sealed = 1;
    return TERSE_OK;
}

static bool all_sealed(const terse_policy *base, const terse_policy *const *overlays, size_t n)
{
    if (!base->sealed)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!overlays[i] || !overlays[i]->sealed)
            return false;
    return true;
}

/* No setting depends on another, so each subset of overlays that were checked alone is fine. */
terse_status policy_derive(const terse_policy *base, const terse_policy *const *overlays,
                           size_t n_overlays, terse_policy **out)
{
    terse_policy *policy;

    if (!base || !out || (n_overlays && !overlays))
        return TERSE_E_ARG;
    if (!all_sealed(base, overlays, n_overlays))
        return TERSE_E_STATE;
    policy = policy_alloc();
    if (!policy)
        return TERSE_E_NOMEM;
    settings_copy(&policy->settings, &base->settings);
    policy->set = base->set;
    policy->made_by = base->made_by;
    for (size_t i = 0; i < n_overlays; i++) {
        for (uint32_t key = 0; key < settings_count(); key++)
            if (overlays[i]->set >> key & 1)
                settings_copy_key(&policy->settings, &overlays[i]->settings, key);
        policy->set |= overlays[i]->set;
    }
    compile(policy);
    policy->sealed = 1;
    *out = policy;
    return TERSE_OK;
}

/* The count is the one thing that changes in a sealed policy. */
void policy_ref(const terse_policy *policy)
{
    if (policy)
        atomic_fetch_add(&((terse_policy *)policy)->count, 1);
}

void policy_unref(const terse_policy *policy)
{
    terse_policy *mine = (terse_policy *)policy;

    if (mine && atomic_fetch_sub(&mine->count, 1) == 1) {
        settings_clear(&mine->settings);
        free(mine);
    }
}
