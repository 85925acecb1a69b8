/* SPDX-License-Identifier: MIT */
/* Where the plugin is, and whether that place can be trusted. */
#ifndef TERSE_FIND_H
#define TERSE_FIND_H

#include <stddef.h>

/* Resolves configured (NULL or empty: the installed plugin) to the file behind all links.  Each
 * part of the way must belong to root or to this process; no one else may be able to write to the
 * file, to its folder, or to a folder that holds a link to it.  0, or -1 with one line in why. */
int terse_find(const char *configured, char *path, size_t path_size, char *why, size_t why_len);

#endif
