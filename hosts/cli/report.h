/* SPDX-License-Identifier: MIT */
#ifndef TERSE_CLI_REPORT_H
#define TERSE_CLI_REPORT_H

#include "exchange.h"

/* Prints what was decided of m, and why. */
void report_print(const struct session *s, const struct message *m, const struct outcome *out);
/* Prints each coding's weight; 0, or -1 after a complaint. */
int report_weights(const struct session *s, const struct headers *headers);

#endif
