/* SPDX-License-Identifier: MIT */
/* Content-Encoding of a message (RFC 9110 section 8.4). */
#ifndef TERSE_CONTENT_CODINGS_H
#define TERSE_CONTENT_CODINGS_H

#include <stdbool.h>

#include <terse.h>
#include "chain.h"

/* The codings in the order in which they were applied, identity left out.  side: TERSE_REQUEST or
 * TERSE_RESPONSE.  False: one of them is not known here, or there are more than most. */
bool content_codings_read(const terse_facts *f, int32_t side, unsigned most, int codings[CHAIN_MAX],
                          unsigned *n);

#endif
