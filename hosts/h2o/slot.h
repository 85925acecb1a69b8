/* SPDX-License-Identifier: MIT */
/* Sends the program's own calls of a shared library's function elsewhere. */
#ifndef TERSE_SLOT_H
#define TERSE_SLOT_H

#include <stdbool.h>

/* False: the program has no slot for a function of that name, or it cannot be written to; then
 * its calls go where they went.  Only while no other thread can run. */
bool slot_redirect(const char *name, void *to);

#endif
