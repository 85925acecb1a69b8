/* SPDX-License-Identifier: MIT */
/* Command lines: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, and "--" to end the options. */
#ifndef TERSE_CLI_ARGS_H
#define TERSE_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arg {
    const char *name;  /* without its dashes */
    char letter;       /* 0: none */
    const char *value; /* what its value is called in the help; NULL: it takes none */
    const char *help;
    /* Takes the value (NULL when the option has none); 0, or -1 after a complaint. */
    int (*take)(void *state, const char *value);
};

struct usage {
    const char *command; /* "explain" */
    const char *operands;
    const char *summary;
    const struct arg *args[4]; /* lists, each ended by one without a name; ended by NULL */
    int operands_min, operands_max;
};

enum args_result { ARGS_RUN, ARGS_HELP, ARGS_WRONG };

/* Gives each option to its take(), and moves the operands to the front of argv; *argc is then how
 * many they are.  --help is printed here, everything wrong is complained of here. */
enum args_result args_parse(const struct usage *usage, void *state, int *argc, char **argv);

/* Decimal digits alone, at most max. */
bool args_number(const char *text, uint64_t max, uint64_t *out);

#endif
