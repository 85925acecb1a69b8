/* SPDX-License-Identifier: MIT */
/* How structs that grow cross the boundary (ABI.md rule A3). */
#ifndef TERSE_TAKE_H
#define TERSE_TAKE_H

#include <terse.h>

/* Copies a caller's input struct into ours of size mine: a short one is zero-extended, one with a
 * non-zero tail that we do not know is TERSE_E_TOOBIG, one below its floor TERSE_E_ARG. */
terse_status take(void *dst, size_t mine, size_t floor, const void *src);

/* Copies our output struct into the caller's as far as it reaches, and zeroes the rest of his;
 * his struct_size stays.  TERSE_E_ARG when it is below the floor. */
terse_status give(void *dst, size_t floor, const void *src, size_t mine);

#endif
