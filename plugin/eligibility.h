/* SPDX-License-Identifier: MIT */
/* What of a response, apart from Accept-Encoding, keeps it from being coded. */
#ifndef TERSE_ELIGIBILITY_H
#define TERSE_ELIGIBILITY_H

#include <stdbool.h>
#include <stdint.h>

#include <terse.h>

struct settings;

struct eligibility {
    uint8_t reason; /* enum reason; REASON_NONE: may be coded */
    bool vary;      /* another request could have got another coding: Vary belongs on it */
    bool probe;     /* the media type is on no list: the bytes have to tell */
    bool short_too; /* min-length does not count */
};

/* decoded: judges the response as if its content codings were off. */
struct eligibility eligibility_of(const terse_facts *f, const struct settings *s,
                                  bool identity_refused, bool decoded);
/* Why its content codings cannot be taken off; REASON_NONE: they can. */
uint8_t eligibility_to_decode(const terse_facts *f, const struct settings *s);
/* The rules of length, also for a body whose length turns out later. */
uint8_t eligibility_length(uint64_t length, const struct settings *s, bool short_too);

#endif
