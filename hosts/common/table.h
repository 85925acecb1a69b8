/* SPDX-License-Identifier: MIT */
#ifndef TERSE_TABLE_H
#define TERSE_TABLE_H

#include <stddef.h>

#include <terse.h>

/* Whether a plugin's table is one that a host of this ABI can call.  0, or -1 with words. */
int terse_table_check(const terse_api *api, const char *path, char *why, size_t why_len);

#endif
