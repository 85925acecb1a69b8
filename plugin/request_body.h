/* SPDX-License-Identifier: MIT */
/* Request bodies that have a content coding (RFC 9110 section 8.4). */
#ifndef TERSE_REQUEST_BODY_H
#define TERSE_REQUEST_BODY_H

#include <stdbool.h>

#include <terse.h>

/* Fills d with UNCODE or REPLY where the body is to be decoded; false: the request is refused. */
bool request_body_open(terse_exchange *x, const terse_facts *f, terse_decision *d);
/* The response comes before the body was decoded. */
void request_body_drop(terse_exchange *x);
/* What became of it: edits, or a refusal. */
void request_body_close(terse_exchange *x, const terse_facts *f, terse_status how, uint64_t length,
                        terse_decision *d);

#endif
