/* SPDX-License-Identifier: MIT */
/* Sends a function's callers elsewhere, for as long as wanted. */
#ifndef TERSE_PATCH_H
#define TERSE_PATCH_H

#include <stdbool.h>
#include <stddef.h>

#define PATCH_SIZE 16 /* the longest jump of the machines below */

struct patch {
    void *target;
    size_t size;
    unsigned char saved[PATCH_SIZE];
    bool opened; /* its pages were made writable */
};

/* Makes the function of size bytes at target jump to another.  NULL, or why it cannot be; then
 * nothing was changed.  Only while no other thread can run it. */
const char *patch_write(struct patch *p, void *target, size_t size, void *to);
/* Puts back what was there. */
bool patch_restore(struct patch *p);

#endif
