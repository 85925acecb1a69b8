/* SPDX-License-Identifier: MIT */
/* What the unit tests share: cmocka, the table, and a host made of a few header lines. */
#ifndef TERSE_TEST_HARNESS_H
#define TERSE_TEST_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <terse.h>

const terse_api *terse_plugin_entry(uint32_t abi_major);

#define S(literal) ((terse_str){(literal), strlen(literal)})

/* A request and its response, each as lines "name: value\n" with names in lower case. */
struct message {
    const char *request;
    const char *response;
};

struct rig {
    const terse_api *api;
    terse_instance *instance;
    terse_policy *policy;
    terse_pool *pool;
    terse_exchange *x;
    terse_decision d;
    char why[256];
};

/* An open plugin, a policy made of "key=value" pairs up to NULL, a pool, a fresh exchange. */
void rig_up(struct rig *rig, const char *const *settings);
void rig_down(struct rig *rig);

/* Facts of a GET over HTTP/1.1 with that status and length. */
terse_facts rig_facts(const struct rig *rig, struct message *m, uint32_t status, int64_t length);
/* The edit of that name, or NULL. */
const terse_edit *rig_edit(const struct rig *rig, const char *name);
/* The value that the edit sets, "-" when it removes, "" when there is no such edit. */
const char *rig_value(const struct rig *rig, const char *name);

#endif
