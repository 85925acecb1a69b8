/* SPDX-License-Identifier: MIT */
/* Bytes of a file, read and never mapped: a file that shrinks is an error, not a signal (A14). */
#ifndef TERSE_READ_RANGE_H
#define TERSE_READ_RANGE_H

#include <stddef.h>
#include <stdint.h>

#define TERSE_READ_SHORT (-1) /* the file ends before offset + len */

/* Reads exactly len bytes at offset.  0, TERSE_READ_SHORT, or the errno of the failure. */
int terse_read_range(int fd, int64_t offset, void *buf, size_t len);

#endif
