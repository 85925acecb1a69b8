/* SPDX-License-Identifier: MIT */
/* Our generator, in front of the source's: see body.h for why. */
#include "body.h"

#include <sys/time.h>

#define HELD_MS 10 /* so long may coding keep H2O's loop from its other clients */
#define REST_MS 1  /* the shortest that lets the loop look at them: 0 would run in the same round */

/* H2O's clock stands still while its loop is in one round, which lasts as long as sockets take all
 * that they are given. */
static bool loop_is_held(const struct body *b)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000;
    return ms >= h2o_now(b->req->conn->ctx->loop) + HELD_MS;
}

void generator_answered(struct body *b)
{
    if (!b->done && b->mode == BODY_STREAM && !body_shadowed(b) && loop_is_held(b)) {
        b->resting = true; /* and busy */
        generator_wait(b, REST_MS);
        return;
    }
    b->busy = false;
    if (!b->done)
        body_turn(b, true);
}

static void on_proceed(h2o_generator_t *self, h2o_req_t *req)
{
    (void)req;
    generator_answered(H2O_STRUCT_FROM_MEMBER(struct body, generator, self));
}

static void on_stop(h2o_generator_t *self, h2o_req_t *req)
{
    struct body *b = H2O_STRUCT_FROM_MEMBER(struct body, generator, self);
    if (b->source->stop)
        b->source->stop(b->source, req);
}

static void on_timer(h2o_timeout_entry_t *entry)
{
    struct body *b = H2O_STRUCT_FROM_MEMBER(struct body, timer, entry);
    if (b->resting) {
        b->resting = b->busy = false;
        body_turn(b, true);
    } else if (b->asked && !b->busy && !b->done && !body_shadowed(b))
        body_paused(b);
}

void generator_interpose(struct body *b)
{
    b->source = b->req->_generator;
    b->generator = (h2o_generator_t){on_proceed, on_stop};
    b->req->_generator = &b->generator;
    b->timer.cb = on_timer;
}

/* The source may answer at once, and with the body's end b may be gone. */
void generator_ask(struct body *b, bool from_loop)
{
    if (b->asked)
        return;
    if (!from_loop) { /* the source is on the stack: it would call itself for ever deeper */
        stream_yield(b);
        return;
    }
    b->asked = true;
    b->source->proceed(b->source, b->req);
}

/* Each wait begins anew: what counts is how long nothing has come. */
void generator_wait(struct body *b, uint64_t ms)
{
    generator_unlink(b);
    if (ms > 0)
        h2o_timeout_link(b->req->conn->ctx->loop, worker_delay(b->e->worker, ms), &b->timer);
}

void generator_unlink(struct body *b)
{
    h2o_timeout_unlink(&b->timer);
}
