/* SPDX-License-Identifier: MIT */
/* terse check: settings without a server. */
#include <stdio.h>

#include "command.h"
#include "say.h"
#include "session.h"
#include "settings_file.h"

static const struct usage usage = {
    .command = "check",
    .operands = "FILE...",
    .summary = "Reads files of settings (lines \"key = value\", comments with #, - for standard\n"
               "input) as the plugin does, and complains of each line that it refuses.",
    .args = {session_plugin_arg},
    .operands_min = 1,
    .operands_max = 4096,
};

static int check_file(struct session *s, const char *path)
{
    char why[1024] = "";
    unsigned wrong = 0;
    if (session_new_policy(s) != 0)
        return -1;
    unsigned taken = settings_file_read(path, session_set, s, &wrong);
    if (wrong)
        return -1;
    terse_status status = s->plugin.api->policy_seal(s->policy, why, sizeof why);
    if (status < 0)
        return complain("%s: %s", path, why[0] ? why : status_words(status));
    printf("%s: right, settings: %u\n", path, taken);
    return 0;
}

int command_check(int argc, char **argv)
{
    struct session_args args = {0};
    struct session s = {0};
    enum args_result parsed = args_parse(&usage, &args, &argc, argv);
    if (parsed != ARGS_RUN)
        return parsed == ARGS_HELP ? EXIT_FINE : EXIT_USAGE;
    int result = session_load(&s, &args);
    for (int i = 0; s.plugin.api && i < argc; i++)
        result |= check_file(&s, argv[i]);
    session_close(&s);
    return result == 0 ? EXIT_FINE : EXIT_REFUSED;
}
