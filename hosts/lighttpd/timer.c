/* SPDX-License-Identifier: MIT */
/* Time-outs of less than the second that the server's own clock has: one timerfd for each worker,
 * and a list of what waits for it, the next one first. */
#include "shim.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

uint64_t timer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Has the file descriptor speak when the first of the list is due. */
static void arm(struct timers *timers)
{
    uint64_t at = timers->first ? timers->first->at : 0;
    if (at == timers->armed)
        return;
    struct itimerspec when = {{0, 0}, {(time_t)(at / 1000), (long)(at % 1000) * 1000000}};
    timers->armed = timerfd_settime(timers->fd, TFD_TIMER_ABSTIME, &when, NULL) == 0 ? at : 0;
}

void timer_stop(struct timers *timers, struct timer *timer)
{
    if (!timer->at)
        return;
    *(timer->previous ? &timer->previous->next : &timers->first) = timer->next;
    *(timer->next ? &timer->next->previous : &timers->last) = timer->previous;
    *timer = (struct timer){.r = timer->r, .due = timer->due};
}

/* Most are the latest of all: the place is looked for from the end. */
static void insert(struct timers *timers, struct timer *timer)
{
    struct timer *before = timers->last;
    while (before && before->at > timer->at)
        before = before->previous;
    timer->previous = before;
    timer->next = before ? before->next : timers->first;
    *(before ? &before->next : &timers->first) = timer;
    *(timer->next ? &timer->next->previous : &timers->last) = timer;
}

void timer_set(struct timers *timers, struct timer *timer, request_st *r, uint64_t at)
{
    timer_stop(timers, timer);
    *timer = (struct timer){.r = r, .at = at ? at : 1};
    insert(timers, timer);
    arm(timers);
}

/* Gives those that are due a turn.  Nothing of theirs runs here. */
static handler_t on_time(void *ctx, int revents)
{
    struct timers *timers = ctx;
    uint64_t times, now = timer_now();
    (void)revents;
    if (read(timers->fd, &times, sizeof times) < 0)
        return HANDLER_GO_ON;
    timers->armed = 0;
    while (timers->first && timers->first->at <= now) {
        struct timer *timer = timers->first;
        timer_stop(timers, timer);
        timer->due = true;
        joblist_append(timer->r->con);
    }
    arm(timers);
    return HANDLER_GO_ON;
}

bool timer_prepare(server *srv, struct timers *timers)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        return false;
    *timers = (struct timers){.srv = srv, .fd = fd};
    timers->node = fdevent_register(srv->ev, fd, on_time, timers);
    fdevent_fdnode_event_set(srv->ev, timers->node, FDEVENT_IN);
    srv->cur_fds++;
    return true;
}

/* The module may be unloaded after this: nothing of it stays in the server's loop. */
void timer_free(struct timers *timers)
{
    if (!timers->node)
        return;
    server_unwatch(timers->srv->ev, timers->node);
    close(timers->fd);
    timers->srv->cur_fds--;
    *timers = (struct timers){.fd = -1};
}
