/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "say.h"

struct cursor {
    const struct usage *usage;
    void *state;
    int argc, at;
    char **argv;
};

static void print_arg(char letter, const char *name, const char *value, const char *help)
{
    char left[48];
    snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "", value ? value : "");
    if (letter)
        printf("  -%c, %-24s %s\n", letter, left, help);
    else
        printf("      %-24s %s\n", left, help);
}

static int print_help(const struct usage *usage)
{
    printf("usage: terse %s [OPTION]...%s%s\n\n%s\n\n", usage->command,
           usage->operands[0] ? " " : "", usage->operands, usage->summary);
    for (unsigned i = 0; usage->args[i]; i++)
        for (const struct arg *a = usage->args[i]; a->name; a++)
            print_arg(a->letter, a->name, a->value, a->help);
    print_arg('h', "help", NULL, "this text");
    return 1;
}

/* By name when there is one, else by letter. */
static const struct arg *find(const struct usage *usage, const char *name, size_t len, char letter)
{
    for (unsigned i = 0; usage->args[i]; i++)
        for (const struct arg *a = usage->args[i]; a->name; a++)
            if (name ? strlen(a->name) == len && memcmp(a->name, name, len) == 0
                     : a->letter && a->letter == letter)
                return a;
    return NULL;
}

/* 0: taken, -1: complained. */
static int hand_over(struct cursor *c, const struct arg *arg, const char *shown, const char *value)
{
    if (!arg->value && value)
        return complain("%s: %s takes no value", c->usage->command, shown);
    if (arg->value && !value) {
        if (c->at >= c->argc)
            return complain("%s: %s wants a value: %s", c->usage->command, shown, arg->value);
        value = c->argv[c->at++];
    }
    return arg->take(c->state, value);
}

static int take_long(struct cursor *c, const char *shown)
{
    const char *name = shown + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] ? name + len + 1 : NULL;

    if (strcmp(name, "help") == 0)
        return print_help(c->usage);
    const struct arg *arg = find(c->usage, name, len, 0);
    if (arg)
        return hand_over(c, arg, shown, value);
    return complain("%s: no such option: --%.*s", c->usage->command, (int)len, name);
}

static int take_short(struct cursor *c, const char *shown)
{
    if (strcmp(shown, "-h") == 0)
        return print_help(c->usage);
    const struct arg *arg = find(c->usage, NULL, 0, shown[1]);
    if (arg)
        return hand_over(c, arg, shown, shown[2] ? shown + 2 : NULL);
    return complain("%s: no such option: -%c", c->usage->command, shown[1]);
}

/* The options, with the operands gathered at the front; 0, 1 for help, -1. */
static int walk(struct cursor *c, int *operands)
{
    bool options = true;
    int result = 0;
    while (result == 0 && c->at < c->argc) {
        char *word = c->argv[c->at++];
        if (!options || word[0] != '-' || word[1] == '\0')
            c->argv[(*operands)++] = word;
        else if (strcmp(word, "--") == 0)
            options = false;
        else
            result = word[1] == '-' ? take_long(c, word) : take_short(c, word);
    }
    return result;
}

enum args_result args_parse(const struct usage *usage, void *state, int *argc, char **argv)
{
    struct cursor c = {.usage = usage, .state = state, .argc = *argc, .argv = argv};
    int operands = 0;
    int result = walk(&c, &operands);

    if (result > 0)
        return ARGS_HELP;
    if (result == 0 && operands < usage->operands_min)
        result = complain("%s: wants %s", usage->command, usage->operands);
    if (result == 0 && operands > usage->operands_max)
        result =
            complain("%s: one operand too many: %s", usage->command, argv[usage->operands_max]);
    if (result < 0) {
        fprintf(stderr, "terse: see: terse %s --help\n", usage->command);
        return ARGS_WRONG;
    }
    *argc = operands;
    return ARGS_RUN;
}

bool args_number(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return n <= max;
}
