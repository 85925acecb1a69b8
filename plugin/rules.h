/* SPDX-License-Identifier: MIT */
/* The headings of RULES.md, for programs that show them. */
#ifndef TERSE_RULES_H
#define TERSE_RULES_H

#include <terse.h>

/* query("terse.rules/1") */
extern const terse_rules rules_list;

#endif
