/* SPDX-License-Identifier: MIT */
/* clock.c -- reads the clocks; see clock.h. */
#include <sys/syscall.h>
#include <time.h>

#include "arch.h"
#include "clock.h"

static uint64_t
ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * NS_PER_SECOND + (uint64_t)t->tv_nsec;
}

static uint64_t
clock_read(clockid_t id)
{
    struct timespec t;
    if (arch_syscall(SYS_clock_gettime, id, (long)&t, 0, 0, 0, 0) != 0)
        return CLOCK_NONE;
    return ns_of(&t);
}

uint64_t
clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ns_of(&t);
}

uint64_t
clock_realtime(void)
{
    return clock_read(CLOCK_REALTIME);
}

uint64_t
clock_process(void)
{
    return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t
clock_own(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* The kernel's encoding of a thread's CPU clock: the inverted tid above three
 * bits, of which 4 says "thread" and 2 "scheduler's time" (posix-timers.h). */
uint64_t
clock_thread(pid_t tid)
{
    return clock_read((clockid_t)((~(unsigned)tid << 3) | 6u));
}
