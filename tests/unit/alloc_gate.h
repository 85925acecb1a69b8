/* SPDX-License-Identifier: MIT */
/* Counts allocations, and makes one of them fail.  In a plain build the gate stands in for malloc
 * itself, so that the codec libraries pass it too; a sanitizer has its own malloc, and there only
 * what the plugin itself calls goes through. */
#ifndef TERSE_TEST_ALLOC_GATE_H
#define TERSE_TEST_ALLOC_GATE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on counts; the nth allocation (from 1) fails, and with 0 none. */
void gate_close(size_t nth);
/* Stops counting.  How many calls there were: to allocate, and to free something. */
size_t gate_open(size_t *frees);
/* Whether it came to the nth. */
bool gate_has_failed(void);

#endif
