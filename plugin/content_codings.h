/* SPDX-License-Identifier: MIT */
/* Content-Encoding of a message (RFC 9110 section 8.4). */
#ifndef TERSE_CONTENT_CODINGS_H
#define TERSE_CONTENT_CODINGS_H

#include <stdbool.h>

#include <terse.h>
#include "chain.h"

struct edits;

/* The codings in the order in which they were applied, identity left out.  side: TERSE_REQUEST or
 * TERSE_RESPONSE.  False: one of them is not known here, or there are more than most. */
bool content_codings_read(const terse_facts *f, int32_t side, unsigned most, int codings[CHAIN_MAX],
                          unsigned *n);

/* Names of codings as such fields list them; identity may be one.  False: there is no room. */
bool content_codings_list(struct edits *e, const int *codings, unsigned n, terse_str *list);

#endif
