/* SPDX-License-Identifier: MIT */
/* Accept-Encoding (RFC 9110 sections 12.4.2 and 12.5.3). */
#ifndef TERSE_NEGOTIATOR_H
#define TERSE_NEGOTIATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <terse.h>
#include "coding.h"
#include "common_fields.h"

struct settings;

/* What a field says of each coding, identity included: thousandths, and where they come from. */
struct weights {
    uint16_t milli[CODING_COUNT + 2]; /* by enum coding; the last one is "*" */
    uint8_t source[CODING_COUNT + 2]; /* TERSE_WEIGHT_* */
    uint8_t common;                   /* 1 + its place among the common fields; 0: none of them */
};

struct common_field {
    struct weights weights;
    uint8_t coding; /* enum coding, what negotiator_choose gives */
};

struct terse_negotiator {
    uint8_t order[CODING_COUNT]; /* enum coding, the server's order */
    uint8_t n_order;
    uint8_t prefer; /* enum prefer */
    struct common_field common[COMMON_FIELDS];
};

/* The parser: all lines of the field make one list. */
void weights_read(struct weights *w, const terse_str *lines, size_t n_lines);

/* The same; a field that is common is looked up and not parsed. */
void negotiator_read(const terse_negotiator *n, struct weights *w, const terse_str *lines,
                     size_t n_lines);
/* The coding that w and the server's preference give; CODING_IDENTITY when none. */
int negotiator_choose(const terse_negotiator *n, const struct weights *w);
/* Whether w refuses identity. */
bool weights_refuse_identity(const struct weights *w);

/* The slots of the table. */
const terse_negotiator *policy_negotiator(const terse_policy *policy);
terse_status negotiate(const terse_negotiator *n, const terse_str *fields, size_t n_fields,
                       terse_choice *out);

#endif
