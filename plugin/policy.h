/* SPDX-License-Identifier: MIT */
/* A policy: settings that are sealed once and then only read, by any thread. */
#ifndef TERSE_POLICY_H
#define TERSE_POLICY_H

#include <stdatomic.h>

#include <terse.h>
#include "negotiator.h"
#include "settings.h"

struct terse_policy {
    atomic_uint count;
    uint8_t sealed;
    uint64_t set; /* bit n: setting n was set here, so that an overlay carries it */
    struct settings settings;
    terse_negotiator negotiator; /* once sealed */
    uint32_t made_by;            /* hash over this plugin and its libraries */
    uint32_t tag_salt;           /* once sealed: and over what the settings do to coded bytes */
};

/* The slots of the table. */
terse_status policy_new(terse_instance *instance, terse_policy **out);
terse_status policy_set(terse_policy *policy, terse_str key, terse_str value, char *why,
                        size_t why_len);
terse_status policy_seal(terse_policy *policy, char *why, size_t why_len);
terse_status policy_derive(const terse_policy *base, const terse_policy *const *overlays,
                           size_t n_overlays, terse_policy **out);
void policy_ref(const terse_policy *policy);
void policy_unref(const terse_policy *policy);

#endif
