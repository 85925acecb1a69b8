/* SPDX-License-Identifier: MIT */
/* Values of Accept-Encoding that most clients send, byte for byte: a policy has ready what the
 * parser answers to them.  Instructions for weights and choice (callgrind, gcc -O2, x86-64, default
 * policy): parsed 1,603, 1,207, 935, 1,603 and 408, in the list's order; looked up 105 to 151. */
#ifndef TERSE_COMMON_FIELDS_H
#define TERSE_COMMON_FIELDS_H

#include <stdbool.h>

#include <terse.h>

/* One line each; what it means is the parser's to say. */
#define COMMON_FIELD_LIST(FIELD)                                                                   \
    FIELD("gzip, deflate, br, zstd")                                                               \
    FIELD("gzip, deflate, br")                                                                     \
    FIELD("gzip, deflate")                                                                         \
    FIELD("deflate, gzip, br, zstd")                                                               \
    FIELD("gzip")

#define COMMON_FIELD_ONE(text) +1
enum { COMMON_FIELDS = COMMON_FIELD_LIST(COMMON_FIELD_ONE) };

struct weights;

/* Has the parser answer all of them, for a negotiator that is complete otherwise. */
void common_fields_compile(terse_negotiator *n);
/* Whether line is one of them, as it stands; then w is what the parser made of it. */
bool common_fields_find(const terse_negotiator *n, terse_str line, struct weights *w);

#endif
