/* SPDX-License-Identifier: MIT */
/* A body on its way: from the source (H2O's generator and the filters before us) to the ostreams
 * behind us.
 *
 * Two parties can owe us a call: the source, which was asked for more (asked), and downstream,
 * which was given something (busy).  Each completion downstream makes H2O call proceed of its
 * generator, and a source that gets one call too many aborts the server; so the generator is ours,
 * and it asks the source only when the source owes nothing. */
#ifndef TERSE_BODY_H
#define TERSE_BODY_H

#include "shim.h"

enum body_mode {
    BODY_WHOLE,  /* collected to its end, then coded in one call */
    BODY_PEEK,   /* collected until the plugin has seen enough */
    BODY_STREAM, /* coded as it comes */
    BODY_PLAIN,  /* leaves as it comes */
    BODY_DROP    /* does not leave */
};

/* What the source has delivered and nobody has taken: kept bytes first, then its own vectors, which
 * stay valid until the source is asked for more. */
struct input {
    size_t kept; /* taken of exchange.held */
    h2o_iovec_t *parts;
    size_t n_parts, room, part, offset;
};

struct body {
    h2o_ostream_t super;
    h2o_generator_t generator; /* ours, in front of: */
    h2o_generator_t *source;
    h2o_req_t *req;
    struct exchange *e;
    struct input in;
    terse_facts facts;
    terse_decision decision;
    terse_stream *stream;
    terse_out room; /* coded bytes on their way */
    h2o_timeout_entry_t timer;
    uint64_t declared; /* length by the response's headers; UINT64_MAX: none */
    uint64_t got;
    uint64_t flush_ms; /* flush when the source pauses for so long; 0: nothing to flush */
    uint64_t stale_at; /* flush by then, whether it pauses or not */
    uint32_t idle;     /* calls in a row that moved nothing */
    uint32_t empty;    /* deliveries of nothing, one after the other */
    enum body_mode mode;
    h2o_send_state_t state; /* of the source */
    bool asked, busy;
    bool resting;  /* busy until the timer: it is others' turn */
    bool started;  /* the ostreams behind us are set up */
    bool flushing; /* a flush has begun */
    bool more;     /* the codec has more to give of what it took */
    bool flushed;  /* all that was taken can be decoded from what was given */
    bool failed;   /* to be broken off at the next chance */
    bool done;     /* the last bytes have left */
};

/* Others stand between the source and us: they take a completion of ours for one of their own, so
 * nothing may be sent but in answer to them. */
static inline bool body_shadowed(const struct body *b)
{
    return b->req->_ostr_top != &b->super;
}

static inline bool body_ended(const struct body *b)
{
    return b->state != H2O_SEND_STATE_IN_PROGRESS;
}

/* vectors.c */
/* False: no memory for what was not taken yet. */
bool input_deliver(struct body *b, const h2o_iovec_t *bufs, size_t n, size_t *len);
size_t input_length(const struct body *b);
/* The next bytes in one piece, at most limit. */
terse_str input_next(const struct body *b, size_t limit);
void input_take(struct body *b, size_t n);
/* The next n bytes in one piece, kept when they are in several.  False: no memory. */
bool input_join(struct body *b, size_t n, terse_str *bytes);
/* Keeps all that the source's own memory has: it is to be asked for more. */
bool input_keep(struct body *b);
/* All of it as vectors to send; then it counts as taken. */
h2o_iovec_t *input_vectors(struct body *b, size_t *n);
void input_clear(struct body *b);
void input_replace(struct body *b, h2o_iovec_t bytes);

/* stream.c: the ostream. */
void stream_add(struct exchange *e, h2o_ostream_t **slot, const terse_facts *facts,
                const terse_decision *decision);
void stream_send(struct body *b, h2o_iovec_t *bufs, size_t n, h2o_send_state_t state);
void stream_send_headers(struct body *b);
/* Comes back through generator_proceed from the event loop. */
void stream_yield(struct body *b);
void stream_break(struct body *b);

/* generator.c */
/* What was sent has left. */
void generator_answered(struct body *b);
void generator_interpose(struct body *b);
/* Asks the source, or waits when it was asked already.  The last thing that a turn does. */
void generator_ask(struct body *b, bool from_loop);
void generator_wait(struct body *b, uint64_t ms);
static inline bool generator_waits(const struct body *b)
{
    return h2o_timeout_is_linked((h2o_timeout_entry_t *)&b->timer);
}
void generator_unlink(struct body *b);

/* body.c: one turn: takes what is there, and ends with one of sending, yielding and asking. */
void body_turn(struct body *b, bool from_loop);
/* The source has paused. */
void body_paused(struct body *b);

/* coding.c: bodies that are coded. */
void coding_open(struct body *b);
void coding_turn(struct body *b, bool from_loop);
/* Puts the coded body, or what it is coded from, into the input, to leave as it is. */
void coding_whole(struct body *b, terse_str bytes);

#endif
