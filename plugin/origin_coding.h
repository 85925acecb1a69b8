/* SPDX-License-Identifier: MIT */
/* Responses that come in a content coding: which of them are decoded for this client, and what they
 * leave in.  And what the origin is told that it may send. */
#ifndef TERSE_ORIGIN_CODING_H
#define TERSE_ORIGIN_CODING_H

#include <stdbool.h>

#include <terse.h>
#include "chain.h"

struct edits;

struct origin_coding {
    bool decode; /* false: it leaves as it came */
    bool vary;   /* another client would get it otherwise */
    int coding;  /* enum coding: what it leaves in once decoded */
    int codings[CHAIN_MAX];
    unsigned n;
};

struct origin_coding origin_coding_of(const terse_exchange *x, const terse_facts *f);
/* The request's Accept-Encoding, for the origin. */
void origin_coding_offer(const terse_exchange *x, const terse_facts *f, struct edits *e);

#endif
