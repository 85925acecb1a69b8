/* SPDX-License-Identifier: MIT */
/* Conditional requests (RFC 9110 section 13): who evaluates them knows nothing of codings. */
#ifndef TERSE_CONDITIONS_H
#define TERSE_CONDITIONS_H

#include <stdbool.h>

#include <terse.h>

struct edits;
struct entity_tag;

/* Edits of the request: tags of ours become those that they were made of, and a Range whose If-Range
 * cannot hold goes. */
void conditions_edit(terse_exchange *x, const terse_facts *f, struct edits *e);

/* Whether the client's If-None-Match has the tag of the identity (plain) or of what a GET would get
 * now (coded, the same where nothing is coded).  picked: the one it has, else coded. */
bool conditions_pick(const terse_exchange *x, const terse_facts *f, const struct entity_tag *plain,
                     const struct entity_tag *coded, struct entity_tag *picked);

/* Whether a 200 with these tags is to leave as 304, since whoever made it has not seen that the client
 * has it: servers compare exactly, and origins not at all. */
bool conditions_hold(const terse_exchange *x, const terse_facts *f, const struct entity_tag *plain,
                     const struct entity_tag *coded);

#endif
