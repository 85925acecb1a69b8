/* SPDX-License-Identifier: MIT */
/* The policy of a request.  lighttpd merges any subset of the matching blocks, so there are too
 * many policies to make at start: each is derived when its set of blocks is first met, and the sets
 * met last are remembered. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

#define REMEMBERED 64

struct derived {
    uint64_t used; /* when; 0: free */
    terse_policy *policy;
    uint64_t *set; /* bit n: overlay n is in it */
};

int scopes_prepare(struct scopes *scopes, uint32_t n_contexts)
{
    size_t n = n_contexts + 1;
    size_t words = (n + 63) / 64;
    scopes->words = (uint32_t)words;
    scopes->blocks = calloc(n, sizeof *scopes->blocks);
    scopes->overlays = calloc(n, sizeof(terse_policy *));
    scopes->chain = calloc(n, sizeof(terse_policy *));
    scopes->derived = calloc(REMEMBERED, sizeof *scopes->derived);
    /* the last set is the request's own */
    scopes->matched = calloc((REMEMBERED + 1) * words, sizeof *scopes->matched);
    if (!scopes->blocks || !scopes->overlays || !scopes->chain || !scopes->derived ||
        !scopes->matched)
        return -1;
    for (uint32_t i = 0; i < REMEMBERED; i++)
        scopes->derived[i].set = scopes->matched + (i + 1) * words;
    return 0;
}

/* Fills matched; false where Terse is off. */
static bool match(struct scopes *scopes, request_st *r, uint32_t *n_matched)
{
    bool enable = scopes->enable;
    *n_matched = 0;
    memset(scopes->matched, 0, scopes->words * sizeof *scopes->matched);
    for (uint32_t i = 0; i < scopes->n_blocks; i++) {
        const struct scope *block = &scopes->blocks[i];
        if (!config_check_cond(r, block->context))
            continue;
        if (block->enable >= 0)
            enable = block->enable;
        if (block->overlay < 0)
            continue;
        scopes->matched[block->overlay / 64] |= UINT64_C(1) << (block->overlay % 64);
        scopes->chain[(*n_matched)++] = scopes->overlays[block->overlay];
    }
    return enable;
}

/* The slot that has the set, or the one to be used for it. */
static struct derived *find(const struct scopes *scopes, bool *found)
{
    struct derived *oldest = &scopes->derived[0];
    size_t bytes = scopes->words * sizeof *scopes->matched;
    for (uint32_t i = 0; i < REMEMBERED; i++) {
        struct derived *d = &scopes->derived[i];
        if (d->used && memcmp(d->set, scopes->matched, bytes) == 0) {
            *found = true;
            return d;
        }
        if (d->used < oldest->used)
            oldest = d;
    }
    *found = false;
    return oldest;
}

static const terse_policy *derive(struct shim *s, request_st *r, uint32_t n_matched)
{
    struct scopes *scopes = &s->scopes;
    bool found;
    struct derived *d = find(scopes, &found);
    if (!found) {
        terse_policy *policy = NULL;
        terse_status status =
            api_of(s)->policy_derive(scopes->base, scopes->chain, n_matched, &policy);
        if (status < 0) {
            complain(s, r, "no policy for its scope (status %d), sent as it is", (int)status);
            return NULL;
        }
        api_of(s)->policy_unref(d->policy); /* an exchange under way has its own count */
        d->policy = policy;
        memcpy(d->set, scopes->matched, scopes->words * sizeof *scopes->matched);
    }
    d->used = ++scopes->clock;
    return d->policy;
}

const terse_policy *scopes_policy(struct shim *s, request_st *r)
{
    uint32_t n_matched;
    if (!match(&s->scopes, r, &n_matched))
        return NULL;
    return n_matched == 0 ? s->scopes.base : derive(s, r, n_matched);
}

void scopes_free(struct shim *s)
{
    struct scopes *scopes = &s->scopes;
    for (uint32_t i = 0; scopes->derived && i < REMEMBERED; i++)
        if (scopes->derived[i].policy)
            api_of(s)->policy_unref(scopes->derived[i].policy);
    for (uint32_t i = 0; i < scopes->n_overlays; i++)
        api_of(s)->policy_unref(scopes->overlays[i]);
    if (scopes->base)
        api_of(s)->policy_unref(scopes->base);
    free(scopes->blocks);
    free(scopes->overlays);
    free(scopes->chain);
    free(scopes->derived);
    free(scopes->matched);
    memset(scopes, 0, sizeof *scopes);
}
