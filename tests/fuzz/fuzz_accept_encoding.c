/* SPDX-License-Identifier: MIT */
/* Accept-Encoding: each input line is one line of the field.  What a policy looks up is what it
 * parses. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <terse.h>

const terse_api *terse_plugin_entry(uint32_t abi_major);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES 8
#define WEIGHTS 8

static terse_instance *instance;
static terse_policy *policies[2];

static void set_up(const terse_api *api)
{
    static const terse_host host = {.struct_size = sizeof host};
    static const terse_str key = {"prefer", 6}, server = {"server", 6};

    if (api->open(&host, &instance, NULL, 0) < 0)
        abort();
    for (int i = 0; i < 2; i++) {
        if (api->policy_new(instance, &policies[i]) < 0)
            abort();
        if (i && api->policy_set(policies[i], key, server, NULL, 0) < 0)
            abort();
        if (api->policy_seal(policies[i], NULL, 0) < 0)
            abort();
    }
}

/* Copies of exactly their size, so that a read past an end is seen. */
static size_t split(const uint8_t *data, size_t size, terse_str *lines)
{
    size_t n = 0;

    while (n < LINES) {
        const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
        size_t len = end ? (size_t)(end - data) : size;
        char *copy = malloc(len ? len : 1);

        if (len)
            memcpy(copy, data, len);
        lines[n++] = (terse_str){copy, len};
        if (!end)
            break;
        data = end + 1;
        size -= len + 1;
    }
    return n;
}

/* What must hold whatever the field says. */
static void check(const terse_choice *choice, const terse_weight *weights)
{
    int accepted = 0, chosen = 0;

    for (uint32_t i = 0; i < choice->n_weights; i++) {
        const terse_weight *w = &weights[i];

        if (w->milli < 0 || w->milli > 1000)
            abort();
        if (w->source == TERSE_WEIGHT_MALFORMED && w->milli)
            abort();
        if (i + 1 < choice->n_weights)
            accepted |= w->milli > 0;
        if (choice->coding && !strcmp(choice->coding, w->coding))
            chosen = w->milli > 0;
    }
    if (choice->coding && !chosen)
        abort(); /* never a coding that the client does not accept */
    if (!choice->coding && accepted && (choice->flags & TERSE_CHOICE_NO_IDENTITY))
        abort(); /* never a refused identity while there is something else */
}

static terse_choice negotiated(const terse_api *api, const terse_policy *policy,
                               const terse_str *lines, size_t n, terse_weight *weights)
{
    terse_choice choice = {
        .struct_size = sizeof choice, .weights = weights, .weights_cap = WEIGHTS};

    if (api->negotiate(api->negotiator(policy), lines, n, &choice) != TERSE_OK)
        abort();
    return choice;
}

/* coding names are static, so that pointers tell them apart */
static bool same(const terse_choice *a, const terse_choice *b)
{
    if (a->coding != b->coding || a->flags != b->flags || a->n_weights != b->n_weights)
        return false;
    for (uint32_t i = 0; i < a->n_weights; i++)
        if (a->weights[i].coding != b->weights[i].coding ||
            a->weights[i].milli != b->weights[i].milli ||
            a->weights[i].source != b->weights[i].source)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const terse_api *api = terse_plugin_entry(TERSE_ABI_MAJOR);
    terse_str lines[LINES + 1];
    terse_weight weights[WEIGHTS], parsed[WEIGHTS];
    size_t n;

    if (!policies[0])
        set_up(api);
    n = split(data, size, lines);
    lines[n] = (terse_str){"", 0}; /* one empty line more says nothing, but is never looked up */
    for (int i = 0; i < 2; i++) {
        terse_choice choice = negotiated(api, policies[i], lines, n, weights);
        terse_choice again = negotiated(api, policies[i], lines, n + 1, parsed);

        check(&choice, weights);
        if (!same(&choice, &again))
            abort();
    }
    while (n)
        free((char *)lines[--n].ptr);
    return 0;
}
