/* SPDX-License-Identifier: MIT */
/* One reason for each outcome of a decision.  Numbers are part of the ABI: never reused. */
#ifndef TERSE_REASONS_H
#define TERSE_REASONS_H

#include <terse.h>

enum reason {
    REASON_NONE = 0,
    REASON_CODED = 1,
    REASON_METHOD = 2,
    REASON_STATUS = 3,
    REASON_ENCODED = 4,
    REASON_PARTIAL = 5,
    REASON_RANGE = 6,
    REASON_NO_TRANSFORM = 7,
    REASON_TYPE = 8,
    REASON_EMPTY = 9,
    REASON_TOO_SMALL = 10,
    REASON_TOO_LARGE = 11,
    REASON_HTTP10 = 12,
    REASON_NOT_ACCEPTED = 13,
    REASON_IDENTITY = 14,
    REASON_PROBE = 15,
    REASON_NO_GAIN = 16,
    REASON_MEMORY = 17,
    REASON_CODEC = 18,
    REASON_HOST = 19,
    REASON_HEAD = 20,
    REASON_NOT_MODIFIED = 21,
    REASON_ETAG = 22,
    REASON_FRAMED = 23,
    REASON_HINT = 24,
    REASON_UNACCEPTABLE = 25,
    REASON_UNSUPPORTED = 26,
    REASON_BAD_BODY = 27,
    REASON_BODY_LIMIT = 28,
    REASON_BODY_MEMORY = 29,
    REASON_DECODED = 30,
    REASON_BAD_ORIGIN = 31,
    REASON_COUNT = 32
};

const char *reason_name(uint32_t number);
const char *reason_text(uint32_t number);
/* "reason." and the name, static too. */
const char *reason_counter(uint32_t number);
/* query("terse.reasons/1") */
extern const terse_reasons reasons_list;

#endif
