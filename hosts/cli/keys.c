/* SPDX-License-Identifier: MIT */
/* terse keys, terse reasons, terse rules: what the plugin says of itself, as a table. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "say.h"
#include "session.h"

#define COLUMNS 5

struct state {
    struct session_args session;
    bool markdown;
};

struct table {
    const char *heads[COLUMNS + 1];
    /* Fills the cells of row i (NULL past the last column); false past the end. */
    bool (*row)(const void *list, uint32_t i, const char *cells[COLUMNS + 1], char number[12]);
    const char *id; /* of the extension */
};

static int take_markdown(void *state, const char *value)
{
    (void)value;
    ((struct state *)state)->markdown = true;
    return 0;
}

static const struct arg args[] = {
    {"markdown", 0, NULL, "as a table for a page", take_markdown},
    {NULL, 0, NULL, NULL, NULL},
};

static bool key_row(const void *list, uint32_t i, const char *cells[COLUMNS + 1], char number[12])
{
    const terse_keys *keys = list;
    const terse_key *key = i < keys->count ? keys->at(i) : NULL;
    (void)number;
    if (!key || key->struct_size < TERSE_OFFSETOFEND(terse_key, help))
        return false;
    cells[0] = key->key;
    cells[1] = key->type;
    cells[2] = key->initial;
    cells[3] = key->range;
    cells[4] = key->help;
    return true;
}

static bool reason_row(const void *list, uint32_t i, const char *cells[COLUMNS + 1],
                       char number[12])
{
    const terse_reasons *reasons = list;
    const terse_reason *reason = i < reasons->count ? reasons->at(i) : NULL;
    if (!reason || reason->struct_size < TERSE_OFFSETOFEND(terse_reason, sentence))
        return false;
    snprintf(number, 12, "%u", (unsigned)reason->number);
    cells[0] = number;
    cells[1] = reason->name;
    cells[2] = reason->sentence;
    cells[3] = NULL;
    return true;
}

static bool rule_row(const void *list, uint32_t i, const char *cells[COLUMNS + 1], char number[12])
{
    const terse_rules *rules = list;
    const terse_rule *rule = i < rules->count ? rules->at(i) : NULL;
    if (!rule || rule->struct_size < TERSE_OFFSETOFEND(terse_rule, fields))
        return false;
    snprintf(number, 12, "R%02u", (unsigned)rule->number);
    cells[0] = number;
    cells[1] = rule->title;
    cells[2] = rule->fields;
    cells[3] = NULL;
    return true;
}

static const struct table keys_table = {
    {"key", "type", "default", "values", "meaning", NULL}, key_row, TERSE_QUERY_KEYS};
static const struct table reasons_table = {
    {"number", "name", "meaning", NULL}, reason_row, TERSE_QUERY_REASONS};
static const struct table rules_table = {
    {"number", "rule", "fields", NULL}, rule_row, TERSE_QUERY_RULES};

/* Pipes would end a cell. */
static void print_cell(const char *text, bool code)
{
    fputs(code ? " `" : " ", stdout);
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
    fputs(code ? "` |" : " |", stdout);
}

static void print_markdown(const struct table *table, const void *list)
{
    const char *cells[COLUMNS + 1] = {NULL};
    char number[12];
    putchar('|');
    for (unsigned c = 0; table->heads[c]; c++)
        print_cell(table->heads[c], false);
    fputs("\n|", stdout);
    for (unsigned c = 0; table->heads[c]; c++)
        fputs("---|", stdout);
    putchar('\n');
    for (uint32_t i = 0; table->row(list, i, cells, number); i++) {
        putchar('|');
        for (unsigned c = 0; table->heads[c]; c++)
            print_cell(cells[c], c == 0 || (table == &keys_table && c == 2));
        putchar('\n');
    }
}

static void print_row(const char *const *cells, const size_t *widths)
{
    for (unsigned c = 0; cells[c]; c++) {
        if (cells[c + 1])
            printf("%-*s  ", (int)widths[c], cells[c]);
        else
            printf("%s\n", cells[c]);
    }
}

static void print_plain(const struct table *table, const void *list)
{
    const char *cells[COLUMNS + 1] = {NULL};
    size_t widths[COLUMNS + 1] = {0};
    char number[12];
    for (unsigned c = 0; table->heads[c]; c++)
        widths[c] = strlen(table->heads[c]);
    for (uint32_t i = 0; table->row(list, i, cells, number); i++)
        for (unsigned c = 0; cells[c]; c++)
            if (strlen(cells[c]) > widths[c])
                widths[c] = strlen(cells[c]);
    print_row(table->heads, widths);
    for (uint32_t i = 0; table->row(list, i, cells, number); i++)
        print_row(cells, widths);
}

static int print_table(const struct usage *usage, const struct table *table, int argc, char **argv)
{
    struct state state = {0};
    struct session s = {0};
    enum args_result parsed = args_parse(usage, &state, &argc, argv);
    if (parsed != ARGS_RUN)
        return parsed == ARGS_HELP ? EXIT_FINE : EXIT_USAGE;
    int result = session_load(&s, &state.session);
    const void *list = result == 0 ? s.plugin.api->query(table->id) : NULL;
    if (list)
        (state.markdown ? print_markdown : print_plain)(table, list);
    else if (result == 0)
        result = complain("%s: does not have %s", s.plugin.path, table->id);
    session_close(&s);
    return result == 0 ? EXIT_FINE : EXIT_REFUSED;
}

int command_keys(int argc, char **argv)
{
    static const struct usage usage = {
        .command = "keys",
        .operands = "",
        .summary = "Prints the settings that the plugin knows.",
        .args = {args, session_plugin_arg},
    };
    return print_table(&usage, &keys_table, argc, argv);
}

int command_reasons(int argc, char **argv)
{
    static const struct usage usage = {
        .command = "reasons",
        .operands = "",
        .summary = "Prints the reasons that a decision can have.",
        .args = {args, session_plugin_arg},
    };
    return print_table(&usage, &reasons_table, argc, argv);
}

int command_rules(int argc, char **argv)
{
    static const struct usage usage = {
        .command = "rules",
        .operands = "",
        .summary = "Prints the rules that decisions go by, with the header fields that they edit.",
        .args = {args, session_plugin_arg},
    };
    return print_table(&usage, &rules_table, argc, argv);
}
