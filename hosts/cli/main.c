/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "say.h"

static const struct {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"explain", "what is decided for a request and its response, and why", command_explain},
    {"check", "whether files of settings are right", command_check},
    {"keys", "the settings that the plugin knows", command_keys},
    {"reasons", "the reasons that a decision can have", command_reasons},
    {"rules", "the rules that decisions go by", command_rules},
    {"info", "which plugin this is, and whether it works here", command_info},
    {"compress", "bytes into a content coding", command_compress},
    {"decompress", "bytes out of a content coding", command_decompress},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_usage(FILE *to)
{
    fputs("usage: terse [--plugin PATH] COMMAND [OPTION]... [OPERAND]...\n\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fputs("\nterse COMMAND --help tells the options of a command; terse --version the version.\n",
          to);
}

/* How many words before the command are options of all commands. */
static int count_global(int argc, char **argv)
{
    int n = 1;
    while (n < argc && argv[n][0] == '-') {
        if (strcmp(argv[n], "--plugin") == 0)
            n += 2;
        else if (strncmp(argv[n], "--plugin=", 9) == 0)
            n++;
        else
            break;
    }
    return n;
}

static int run_command(int argc, char **argv, int at)
{
    const char *name = argv[at];
    /* the global options go to the command, whose name makes room for them */
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    complain("no such command: %s", name);
    print_usage(stderr);
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    int at = count_global(argc, argv);
    if (at < argc && (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (at < argc && strcmp(argv[at], "--version") == 0) {
        puts("terse " TERSE_CLI_VERSION);
        return EXIT_FINE;
    }
    if (at < argc && argv[at][0] != '-')
        return run_command(argc, argv, at);
    if (at < argc)
        complain("no such option: %s", argv[at]);
    else
        complain("which command?");
    print_usage(stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("standard output: %s", strerror(errno));
        return status ? status : EXIT_REFUSED;
    }
    return status;
}
