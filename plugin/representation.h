/* SPDX-License-Identifier: MIT */
/* The header edits that go with each outcome: which representation leaves, and what says so. */
#ifndef TERSE_REPRESENTATION_H
#define TERSE_REPRESENTATION_H

#include <stdbool.h>

#include <terse.h>

struct edits;
struct entity_tag;

/* Vary: Accept-Encoding, merged into what is there (RFC 9110 section 12.5.5). */
void representation_vary(struct edits *e, const terse_facts *f);

/* The response's entity tag; false when it has none, several, or a malformed one. */
bool representation_tag(const terse_facts *f, struct entity_tag *tag);
/* What `etag` makes of it in a coding; streamed: its bytes are not the same each time. */
struct entity_tag representation_coded_tag(struct edits *e, const struct entity_tag *plain,
                                           const terse_policy *p, int coding, bool streamed);
/* A tag without an opaque part: none. */
void representation_set_tag(struct edits *e, const struct entity_tag *tag);
/* The validator of a representation that is, or may be, coded. */
void representation_validator(struct edits *e, const terse_facts *f, const terse_policy *p,
                              int coding, bool streamed);

/* Every edit of a response that leaves in that coding. */
void representation_coded(struct edits *e, const terse_facts *f, const terse_policy *p, int coding,
                          bool streamed);
/* The tag of one whose coding was taken off. */
struct entity_tag representation_decoded_tag(const struct entity_tag *plain, const terse_policy *p);
/* Every edit of a response whose coding was taken off. */
void representation_decoded(struct edits *e, const terse_facts *f, const terse_policy *p);
/* What a 304 does not repeat of the 200 that it stands for (section 15.4.5). */
void representation_no_content(struct edits *e, const terse_facts *f);

#endif
