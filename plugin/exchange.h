/* SPDX-License-Identifier: MIT */
/* State of one request and its response.  Zeroed memory is a fresh exchange. */
#ifndef TERSE_EXCHANGE_H
#define TERSE_EXCHANGE_H

#include <terse.h>
#include "negotiator.h"

enum exchange_state {
    EXCHANGE_FRESH,
    EXCHANGE_REQUESTED, /* the request's headers are known */
    EXCHANGE_DECODING,  /* its body is being decoded */
    EXCHANGE_PEEKING,   /* the body's first bytes are awaited */
    EXCHANGE_WHOLE,     /* the whole body is awaited */
    EXCHANGE_STREAMING, /* a stream was set up */
    EXCHANGE_DECIDED    /* nothing more is awaited */
};

struct terse_exchange {
    const terse_policy *policy; /* counted while set */
    terse_pool *pool;
    terse_stream *stream;       /* set up for this exchange, not given back yet */
    uint64_t bytes_in;          /* given to the codec */
    uint64_t bytes_out;         /* got from it */
    struct weights weights;     /* of the client's own Accept-Encoding */
    uint8_t state;              /* enum exchange_state */
    uint8_t coding;             /* enum coding: what leaves, or would after PEEK and WHOLE */
    uint8_t reason;             /* enum reason */
    uint8_t probe;              /* 1: the body's bytes have to tell whether it is coded */
    uint8_t refused;            /* 1: the request was answered in place of its handler */
    uint64_t decoded;           /* bytes of the request's body, counted by the pool until the end */
    uint8_t short_too;          /* 1: min-length does not count */
    uint16_t if_none_match_len; /* 0: the request still has the client's own */
    char if_none_match[256];    /* as the client sent it, when tags of ours were replaced */
};

/* The slots of the table. */
terse_status exchange_request(terse_exchange *x, const terse_facts *facts, terse_decision *out);
terse_status exchange_decide(terse_exchange *x, const terse_facts *facts, terse_decision *out);
terse_status exchange_decide_more(terse_exchange *x, const terse_facts *facts, terse_str bytes,
                                  int32_t how, terse_decision *out);
terse_status exchange_encode_whole(terse_exchange *x, const terse_facts *facts, terse_str body,
                                   terse_str *coded, terse_decision *out);
void exchange_end(terse_exchange *x, int32_t how, terse_outcome *out);

terse_status exchange_request_body(terse_exchange *x, const terse_facts *facts, terse_status how,
                                   uint64_t length, terse_decision *out);

/* As stream_open, but hands over the encoder that the exchange's decision has set up. */
terse_status exchange_stream_open(terse_pool *pool, const terse_spec *spec, terse_stream **out);

/* Checks and copies facts, and binds x to their policy and pool. */
terse_status exchange_enter(terse_exchange *x, const terse_facts *facts, terse_facts *copy);
/* Hands d over, with x's reason and the pool's edits. */
terse_status exchange_answer(terse_exchange *x, terse_decision *d, terse_decision *out);
/* Reads Accept-Encoding, once. */
void exchange_read_request(terse_exchange *x, const terse_facts *facts);

#endif
