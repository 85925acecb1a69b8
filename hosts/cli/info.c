/* SPDX-License-Identifier: MIT */
/* terse info: which plugin, which codecs, and whether they work. */
#include <stdio.h>

#include "command.h"
#include "say.h"
#include "session.h"

static const struct usage usage = {
    .command = "info",
    .operands = "",
    .summary = "Tells which plugin is loaded and with which libraries, and lets it test itself\n"
               "under the settings given.",
    .args = {session_settings_args, session_plugin_arg},
};

static void print_pair(terse_str name, terse_str value)
{
    print_text(stdout, name);
    printf(":%*s", name.len < 19 ? (int)(19 - name.len) : 1, "");
    print_text(stdout, value);
    putchar('\n');
}

static void print_pairs(const struct session *s)
{
    terse_str name, value;
    printf("path:               %s\n", s->plugin.path);
    printf("abi:                %u.%u\n", (unsigned)s->plugin.api->abi_major,
           (unsigned)s->plugin.api->abi_minor);
    for (uint32_t i = 0;
         i < 1000 && s->plugin.api->info(s->plugin.instance, i, &name, &value) == TERSE_OK; i++)
        print_pair(name, value);
}

static int test(struct session *s)
{
    char why[1024] = "";
    terse_status status = s->plugin.api->self_test(s->plugin.instance, s->policy, why, sizeof why);
    if (status >= 0)
        puts("self-test:          passed");
    else
        puts("self-test:          failed");
    if (status >= 0)
        return 0;
    return complain("self-test: %s", why[0] ? why : status_words(status));
}

int command_info(int argc, char **argv)
{
    struct session_args args = {0};
    struct session s = {0};
    enum args_result parsed = args_parse(&usage, &args, &argc, argv);
    if (parsed != ARGS_RUN)
        return parsed == ARGS_HELP ? EXIT_FINE : EXIT_USAGE;
    int result = session_policy(&s, &args);
    if (result == 0) {
        print_pairs(&s);
        result = test(&s);
    }
    session_close(&s);
    return result == 0 ? EXIT_FINE : EXIT_REFUSED;
}
