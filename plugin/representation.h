/* SPDX-License-Identifier: MIT */
/* The header edits that go with each outcome: which representation leaves, and what says so. */
#ifndef TERSE_REPRESENTATION_H
#define TERSE_REPRESENTATION_H

#include <terse.h>

struct edits;
struct settings;

/* Vary: Accept-Encoding, merged into what is there (RFC 9110 section 12.5.5). */
void representation_vary(struct edits *e, const terse_facts *f);
/* The validator of a representation that is, or may be, coded. */
void representation_validator(struct edits *e, const terse_facts *f, const struct settings *s);
/* Every edit of a response that leaves in that coding. */
void representation_coded(struct edits *e, const terse_facts *f, const struct settings *s,
                          int coding);

#endif
