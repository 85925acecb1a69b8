/* SPDX-License-Identifier: MIT */
/* Whether bytes of an unknown media type are worth coding. */
#ifndef TERSE_PROBE_H
#define TERSE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that tell enough of a body whose rest is not here yet; less misjudges file headers. */
#define PROBE_BYTES 4096

/* True for text and plain data, false for what is packed already. */
bool probe_codable(const void *body, size_t len);

#endif
