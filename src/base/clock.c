/* SPDX-License-Identifier: MIT */
/*
 * clock.c -- reads the clocks; see clock.h. It makes system calls itself,
 * because libc's clock_gettime sets errno when it fails. The call fails if a
 * thread ends while its clock is read. CLOCK_MONOTONIC is the exception: libc
 * reads it in the vdso, for a tenth of what a system call costs.
 */
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "hot.h"
#include "state.h"
#include "sys.h"
#include "clock.h"
#include "poison.h"

static HOT_STATE clock_function get_time = clock_gettime;

void
clock_use(clock_function function)
{
    get_time = function;
}

OF_PROCESS _Atomic uint32_t clock_expired;

bool
clock_expires(uint64_t until)
{
    bool is_over = clock_now() >= until;
    if (is_over)
        atomic_fetch_add(&clock_expired, 1);
    return is_over;
}

static uint64_t
ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * NS_PER_SECOND + (uint64_t)t->tv_nsec;
}

/* Returns CLOCK_NONE on an error. No clock will ever show that time. */
static uint64_t
clock_read(clockid_t id)
{
    struct timespec t;
    if (sys_call(SYS_clock_gettime, id, &t) != 0)
        return CLOCK_NONE;
    return ns_of(&t);
}

HOT uint64_t
clock_now(void)
{
    struct timespec t;
    /* The call cannot fail for this clock, so errno stays as it is. */
    get_time(CLOCK_MONOTONIC, &t);
    return ns_of(&t);
}

uint64_t
clock_realtime(void)
{
    return clock_read(CLOCK_REALTIME);
}

/* The resolution does not change while a kernel runs. So one call is enough. */
uint64_t
clock_tick(void)
{
    static _Atomic uint64_t known;
    uint64_t tick = atomic_load_explicit(&known, memory_order_relaxed);
    struct timespec t = {0, 0};
    if (tick != 0)
        return tick;
    (void)sys_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &t);
    atomic_store_explicit(&known, ns_of(&t), memory_order_relaxed);
    return ns_of(&t);
}

uint64_t
clock_process(void)
{
    return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

HOT uint64_t
clock_own(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
clock_own_kernel(void)
{
    struct rusage usage;
    if (sys_call(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return CLOCK_NONE;
    return (uint64_t)usage.ru_stime.tv_sec * NS_PER_SECOND +
           (uint64_t)usage.ru_stime.tv_usec * 1000;
}

/* The kernel's encoding of a thread's CPU clock: the inverted tid above three
 * bits. In these, 4 means "thread", and 2 "scheduler's time" (posix-timers.h).
 * pthread_getcpuclockid would need a pthread_t, which /proc does not show. The
 * kernel refuses the tid of another process, so a stale tid reads as
 * CLOCK_NONE. */
clockid_t
clock_of_thread(pid_t tid)
{
    return (clockid_t)((~(unsigned)tid << 3) | 6u);
}

uint64_t
clock_thread(pid_t tid)
{
    return clock_read(clock_of_thread(tid));
}
