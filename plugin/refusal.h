/* SPDX-License-Identifier: MIT */
/* Answers in place of a request's handler. */
#ifndef TERSE_REFUSAL_H
#define TERSE_REFUSAL_H

#include <terse.h>

/* 406 with the list of what is on offer (RFC 9110 section 15.5.7). */
void refusal_not_acceptable(terse_exchange *x, terse_decision *d);
/* 400, 413, 415 or 503, by its reason. */
void refusal_of_body(terse_exchange *x, uint8_t reason, terse_decision *d);
/* The fields that go with its status: a server's error document takes the place of all others. */
void refusal_fields(terse_exchange *x);

#endif
