/* SPDX-License-Identifier: MIT */
/* Accept-Encoding (RFC 9110 sections 12.4.2 and 12.5.3). */
#ifndef TERSE_NEGOTIATOR_H
#define TERSE_NEGOTIATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <terse.h>
#include "coding.h"

struct settings;

/* What a field says of each coding, identity included: thousandths, and where they come from. */
struct weights {
    uint16_t milli[CODING_COUNT + 2]; /* by enum coding; the last one is "*" */
    uint8_t source[CODING_COUNT + 2]; /* TERSE_WEIGHT_* */
    uint8_t present;                  /* the header was there and not empty */
};

struct terse_negotiator {
    uint8_t order[CODING_COUNT]; /* enum coding, the server's order */
    uint8_t n_order;
    uint8_t prefer; /* enum prefer */
};

void weights_init(struct weights *w);
/* Adds one line of the field; any number of lines make one list. */
void weights_add(struct weights *w, terse_str line);
/* Spreads "*" and the rule for identity over what was not named. */
void weights_finish(struct weights *w);

/* The coding that w and the server's preference give; CODING_IDENTITY when none. */
int negotiator_choose(const terse_negotiator *n, const struct weights *w);
/* Whether w refuses identity. */
bool weights_refuse_identity(const struct weights *w);

/* The slots of the table. */
const terse_negotiator *policy_negotiator(const terse_policy *policy);
terse_status negotiate(const terse_negotiator *n, const terse_str *fields, size_t n_fields,
                       terse_choice *out);

#endif
