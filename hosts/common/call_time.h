/* SPDX-License-Identifier: MIT */
/* How long a call into the plugin has kept its thread: what one response costs all the others. */
#ifndef TERSE_CALL_TIME_H
#define TERSE_CALL_TIME_H

#include <stdint.h>
#include <time.h>

/* All zero to begin with; of one thread. */
struct terse_call_time {
    uint64_t longest; /* ns */
};

/* Time of the processor, not of the clock on the wall: what other programs take is no fault here. */
static inline uint64_t terse_call_begins(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void terse_call_ends(struct terse_call_time *time, uint64_t begin)
{
    uint64_t took = terse_call_begins() - begin;
    if (took > time->longest)
        time->longest = took;
}

#endif
