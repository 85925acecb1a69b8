/* SPDX-License-Identifier: MIT */
/* How long a call into the plugin has kept its thread: what one response costs all the others. */
#ifndef TERSE_CALL_TIME_H
#define TERSE_CALL_TIME_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* All zero to begin with; of one thread. */
struct terse_call_time {
    uint64_t longest; /* ns */
};

/* The clock is a system call of up to a microsecond, and calls with less input are never the longest
 * by far. */
#define TERSE_CALL_TIMED 16384
#define TERSE_CALL_ALWAYS SIZE_MAX

/* Time of the processor, not of the clock on the wall: what other programs take is no fault here. */
static inline uint64_t terse_cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* len: of the input, or TERSE_CALL_ALWAYS.  0: this call is not timed. */
static inline uint64_t terse_call_begins(size_t len)
{
    return len < TERSE_CALL_TIMED ? 0 : terse_cpu_time();
}

static inline void terse_call_ends(struct terse_call_time *time, uint64_t begin)
{
    uint64_t took = begin ? terse_cpu_time() - begin : 0;
    if (took > time->longest)
        time->longest = took;
}

#endif
