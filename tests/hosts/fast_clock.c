/* SPDX-License-Identifier: MIT */
/* Preloaded into a server: its monotonic clock goes in steps of 64 seconds, 50 of them a second, so
 * that what a server tidies up once a minute happens all the time. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_SECONDS 64
#define STEP_NS 20000000

int clock_gettime(clockid_t id, struct timespec *ts);
int clock_gettime(clockid_t id, struct timespec *ts)
{
    long result = syscall(SYS_clock_gettime, id, ts);
    if (result == 0 && (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE)) {
        long long steps = (ts->tv_sec * 1000000000LL + ts->tv_nsec) / STEP_NS;
        ts->tv_sec = (time_t)(steps * STEP_SECONDS);
        ts->tv_nsec = 0;
    }
    return (int)result;
}
