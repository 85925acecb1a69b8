/* SPDX-License-Identifier: MIT */
/* The commands.  Each gets what follows its name and returns the exit status. */
#ifndef TERSE_CLI_COMMAND_H
#define TERSE_CLI_COMMAND_H

#define EXIT_FINE 0
#define EXIT_REFUSED 1
#define EXIT_USAGE 2

int command_check(int argc, char **argv);
int command_compress(int argc, char **argv);
int command_decompress(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_info(int argc, char **argv);
int command_keys(int argc, char **argv);
int command_reasons(int argc, char **argv);
int command_rules(int argc, char **argv);

#endif
