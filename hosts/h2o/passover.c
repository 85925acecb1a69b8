/* SPDX-License-Identifier: MIT */
/* H2O refuses settings that it does not know.  It takes its configuration from the shared libyaml,
 * event by event; the filter hands on all events but those of `terse` and `terse.plugin`. */
#include "passover.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "slot.h"

/* ---- libyaml: the part of its binary interface that is needed ---------------------------------
 * Numbers and layout are those of yaml.h, the same in all versions since 0.1.4 (libyaml-0.so.2);
 * the header itself is not wanted for the build. */

enum { ALIAS = 5, SCALAR, SEQUENCE_START, SEQUENCE_END, MAPPING_START, MAPPING_END };

struct event {
    int type;
    struct { /* one of a union, whose others are of no interest */
        char *anchor, *tag, *value;
        size_t length;
    } scalar;
};

static int (*parse)(void *parser, struct event *e);
static void (*discard)(struct event *e);

/* ---- where in the document the next event will be ---------------------------------------------
 */

struct level {
    struct level *outer;
    bool mapping;
    bool value_next; /* of a mapping: a key has begun */
    bool words_next; /* of a mapping: and what it maps to has keys that are no settings */
    bool words;      /* those keys: a host may well be called "terse" */
};

/* H2O reads its documents one after the other, but keys for TLS in a thread of their own. */
static _Thread_local struct level *innermost;

static bool is(const struct event *e, const char *word)
{
    return e->type == SCALAR && e->scalar.length == strlen(word) &&
           memcmp(e->scalar.value, word, e->scalar.length) == 0;
}

static bool opens(const struct event *e)
{
    return e->type == SEQUENCE_START || e->type == MAPPING_START;
}

static bool closes(const struct event *e)
{
    return e->type == SEQUENCE_END || e->type == MAPPING_END;
}

static void enter(bool mapping, bool words)
{
    struct level *entered = malloc(sizeof *entered);
    if (!entered)
        abort(); /* as H2O does */
    *entered = (struct level){.outer = innermost, .mapping = mapping, .words = words};
    innermost = entered;
}

static void leave(void)
{
    struct level *left = innermost;
    innermost = left->outer;
    free(left);
}

static void follow_node(const struct event *e)
{
    struct level *in = innermost;
    bool words = in && in->words_next;
    if (in && in->mapping) {
        in->value_next = !in->value_next;
        in->words_next = in->value_next && (is(e, "hosts") || is(e, "paths") || is(e, "setenv"));
    }
    if (opens(e))
        enter(e->type == MAPPING_START, words);
}

static void follow(const struct event *e)
{
    if (opens(e) || e->type == SCALAR || e->type == ALIAS)
        follow_node(e);
    else if (closes(e) && innermost)
        leave();
    else /* a document begins or ends; one before it may have been given up in its midst */
        while (innermost)
            leave();
}

/* ---- the filter -------------------------------------------------------------------------------
 */

static bool is_ours(const struct event *e)
{
    const struct level *in = innermost;
    return in && in->mapping && !in->value_next && !in->words &&
           (is(e, "terse") || is(e, "terse.plugin"));
}

/* Discards the key that e is, and all of its value. */
static bool drop(void *parser, struct event *e)
{
    size_t depth = 0;
    do {
        discard(e);
        if (!parse(parser, e))
            return false;
        depth += opens(e);
        depth -= closes(e);
    } while (depth > 0);
    discard(e);
    return true;
}

static int filter(void *parser, struct event *e)
{
    int parsed = parse(parser, e);
    while (parsed && is_ours(e))
        parsed = drop(parser, e) && parse(parser, e);
    if (parsed)
        follow(e);
    return parsed;
}

bool passover_install(void)
{
    int (*replacement)(void *, struct event *) = filter;
    void *to, *symbols[] = {dlsym(RTLD_DEFAULT, "yaml_parser_parse"),
                            dlsym(RTLD_DEFAULT, "yaml_event_delete")};
    (void)dlerror(); /* leave no message of ours to others */
    if (!symbols[0] || !symbols[1])
        return false;
    memcpy(&parse, &symbols[0], sizeof parse);
    memcpy(&discard, &symbols[1], sizeof discard);
    memcpy(&to, &replacement, sizeof to);
    return slot_redirect("yaml_parser_parse", to);
}
