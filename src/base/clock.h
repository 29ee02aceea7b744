/* SPDX-License-Identifier: MIT */
/* clock.h -- the clocks, in nanoseconds. They take no lock and keep errno.
 * Context: any. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u
#define CLOCK_NONE UINT64_MAX

/* Have clock_now call this function, which is libc's own clock_gettime(2). A
 * sanitizer may put another function in front of libc's. The process has only
 * one thread. */
typedef int (*clock_function)(clockid_t, struct timespec *);
void clock_use(clock_function function);

/* CLOCK_MONOTONIC, read without a system call in the vdso; CLOCK_REALTIME. */
uint64_t clock_now(void);
uint64_t clock_realtime(void);

/* CPU time of this process, of the calling thread, and of thread TID of this
 * process. CLOCK_NONE if there is no thread TID. */
uint64_t clock_process(void);
uint64_t clock_own(void);

/* The part of the calling thread's CPU time that the kernel used for it, in ns,
 * or CLOCK_NONE. The kernel counts it by ticks (ru_stime of getrusage(2)).
 * Context: any. */
uint64_t clock_own_kernel(void);
uint64_t clock_thread(pid_t tid);

/* The time between two ticks of the kernel, 1 / CONFIG_HZ: the resolution of
 * the coarse clock (clock_getres(2)). */
uint64_t clock_tick(void);

/* Whether the CLOCK_MONOTONIC time UNTIL (ns) has come. If so, the caller gives
 * up its wait for another thread, and the wait counts as expired. That is a
 * fault, or a loss that no other counter shows. */
bool clock_expires(uint64_t until);

/* The waits of this process that expired. The child of a fork begins at 0. */
extern _Atomic uint32_t clock_expired;

/* NS as the type that system calls take. */
static inline struct timespec
clock_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND),
                             .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

/* The id of thread TID's CPU clock. */
clockid_t clock_of_thread(pid_t tid);

#endif
