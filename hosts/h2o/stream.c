/* SPDX-License-Identifier: MIT */
/* The ostream: where H2O hands a body over, and how it goes on.  With vectors.c, all that depends
 * on the shape of H2O's sends. */
#include "body.h"

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#define CHUNK_MAX 65536 /* most bytes that a source is asked for at once */
#define EMPTY_MAX 256   /* a source that delivers nothing so often never will: a file that shrank */

/* A source that ends short of what it declared was cut off, whatever it says. */
static h2o_send_state_t true_state(const struct body *b, h2o_send_state_t state)
{
    if (state != H2O_SEND_STATE_FINAL || b->declared == UINT64_MAX || b->got >= b->declared)
        return state;
    complain(b->e->worker, b->req, "its body ends after %" PRIu64 " of %" PRIu64 " bytes, cut off",
             b->got, b->declared);
    return H2O_SEND_STATE_ERROR;
}

static void take(struct body *b, const h2o_iovec_t *bufs, size_t n, h2o_send_state_t state)
{
    size_t len;
    if (!input_deliver(b, bufs, n, &len))
        b->failed = true;
    b->got += len;
    b->state = true_state(b, state);
    b->empty = len > 0 ? 0 : b->empty + 1;
    if (body_ended(b) || b->empty <= EMPTY_MAX)
        return;
    complain(b->e->worker, b->req, "its body goes no further than %" PRIu64 " bytes, cut off",
             b->got);
    b->failed = true;
}

static void on_send(h2o_ostream_t *self, h2o_req_t *req, h2o_iovec_t *bufs, size_t n,
                    h2o_send_state_t state)
{
    struct body *b = (struct body *)self;
    (void)req;
    if (body_ended(b)) { /* there is no generator any more: this is how H2O says proceed */
        generator_answered(b);
        return;
    }
    if (!b->asked) /* H2O's throttle sends again what has not left after 100 ms */
        return;
    b->asked = false;
    take(b, bufs, n, state);
    if (!b->busy)
        body_turn(b, false);
}

static void on_stop(h2o_ostream_t *self, h2o_req_t *req)
{
    struct body *b = (struct body *)self;
    (void)req;
    generator_unlink(b);
    b->done = true;
    exchange_over(b->e, TERSE_ABORTED);
}

void stream_add(struct exchange *e, h2o_ostream_t **slot, const terse_facts *facts,
                const terse_decision *decision)
{
    h2o_req_t *req = e->req;
    struct body *b = (struct body *)h2o_add_ostream(req, sizeof *b, slot);
    h2o_ostream_t super = b->super;
    memset(b, 0, sizeof *b);
    b->super = super;
    b->super.do_send = on_send;
    b->super.stop = on_stop;
    b->req = req;
    b->e = e;
    b->facts = *facts;
    b->decision = *decision;
    b->asked = true;
    b->state = H2O_SEND_STATE_IN_PROGRESS;
    b->mode = decision->action == TERSE_WHOLE    ? BODY_WHOLE
              : decision->action == TERSE_PEEK   ? BODY_PEEK
              : decision->action == TERSE_STREAM ? BODY_STREAM
                                                 : BODY_DROP;
    /* what is dropped may end anywhere; for HEAD there is nothing to drop */
    b->declared = facts->length >= 0 && b->mode != BODY_DROP ? (uint64_t)facts->length : UINT64_MAX;
    if (req->preferred_chunk_size > CHUNK_MAX)
        req->preferred_chunk_size = CHUNK_MAX;
    generator_interpose(b);
    if (b->mode == BODY_STREAM)
        coding_open(b);
    else if (b->mode == BODY_PEEK)
        generator_wait(b, decision->hold_ms);
}

/* Framing is chosen by the ostreams behind us when they are set up: the headers have to be final.
 */
static void start(struct body *b)
{
    if (b->started)
        return;
    b->started = true;
    h2o_setup_next_ostream(b->req, &b->super.next);
}

/* The end of the connection is the end of a body without chunks and length: only a reset shows that
 * it was cut (RFC 9112 section 8). */
static void make_cut_visible(const struct body *b)
{
    h2o_req_t *req = b->req;
    struct linger reset = {1, 0};
    if (req->version >= 0x200 || req->res.content_length != SIZE_MAX ||
        req->bytes_counted_by_ostream)
        return;
    h2o_socket_t *sock = req->conn->callbacks->get_socket(req->conn);
    if (sock)
        (void)setsockopt(h2o_socket_get_fd(sock), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

/* Sending the last bytes can end the request, and b with it. */
void stream_send(struct body *b, h2o_iovec_t *bufs, size_t n, h2o_send_state_t state)
{
    start(b);
    generator_unlink(b);
    if (state == H2O_SEND_STATE_IN_PROGRESS) {
        b->busy = true;
    } else {
        b->done = true;
        if (state == H2O_SEND_STATE_ERROR)
            make_cut_visible(b);
        exchange_over(b->e, state == H2O_SEND_STATE_FINAL      ? TERSE_DONE
                            : b->state == H2O_SEND_STATE_ERROR ? TERSE_SOURCE_BROKE
                                                               : TERSE_ABORTED);
    }
    h2o_ostream_send_next(&b->super, b->req, bufs, n, state);
}

/* Ostreams hand on no send without bytes, so the last one is told directly; the others have nothing
 * to do with an empty one. */
void stream_send_headers(struct body *b)
{
    h2o_iovec_t nothing = h2o_iovec_init(H2O_STRLIT(""));
    start(b);
    generator_unlink(b);
    b->busy = true;
    h2o_ostream_t *last = b->super.next;
    while (last->next)
        last = last->next;
    last->do_send(last, b->req, &nothing, 1, H2O_SEND_STATE_IN_PROGRESS);
}

void stream_yield(struct body *b)
{
    b->busy = true;
    h2o_ostream_send_next(&b->super, b->req, NULL, 0, H2O_SEND_STATE_IN_PROGRESS);
}

/* Ends a body that cannot be finished, in a way that the client sees.  Called from the event loop:
 * nothing of the source's is on the stack. */
void stream_break(struct body *b)
{
    h2o_req_t *req = b->req;
    if (req->_generator) {
        b->state = H2O_SEND_STATE_ERROR;
        if (req->_generator->stop)
            req->_generator->stop(req->_generator, req);
        req->_generator = NULL;
    }
    while (body_shadowed(b) && req->_ostr_top->next) {
        if (req->_ostr_top->stop)
            req->_ostr_top->stop(req->_ostr_top, req);
        req->_ostr_top = req->_ostr_top->next;
    }
    stream_send(b, NULL, 0, H2O_SEND_STATE_ERROR);
}
