/* SPDX-License-Identifier: MIT */
/* The plugin leaves the host's errno alone: saved = errno; ...; errno_keep(saved). */
#ifndef TERSE_ERRNO_KEEP_H
#define TERSE_ERRNO_KEEP_H

#include <errno.h>

/* Volatile, for clang takes it that malloc does not touch errno, and drops a plain store. */
static inline void errno_keep(int saved)
{
    *(volatile int *)&errno = saved;
}

#endif
