/* SPDX-License-Identifier: MIT */
/*
 * cpu_timer.c -- see cpu_timer.h. Timer ids are small numbers of the process
 * that the kernel assigns, from 0 on. One array holds them by tid. It is
 * sparse, like the array of the threads.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "process/threads.h"
#include "signals/signals.h"
#include "cpu_timer.h"

#define NO_TIMER 0u           /* the array holds id + 1 */
#define BEING_MADE UINT32_MAX /* another thread makes the timer */

/* Seconds of the process's CPU time after which its timer expires: never. */
#define FAR_SECONDS 1000000000

static _Atomic uint32_t *timers;
static _Atomic uint32_t count, lowest_tid, highest_tid;
static uint32_t most;
static int process_timer = -1;

/* Each timer holds a queued signal of the user's RLIMIT_SIGPENDING
 * (timer_create(2)). Our timers take a quarter of these; the rest is the
 * program's. */
int
cpu_timer_begin(void)
{
    struct rlimit limit;
    timers = sys_renew((void *)timers, THREADS_TIDS * sizeof(*timers));
    if (timers == NULL)
        return -1;
    atomic_store(&count, 0);
    atomic_store(&lowest_tid, THREADS_TIDS);
    atomic_store(&highest_tid, 0);
    process_timer = -1;
    most = UINT32_MAX;
    if (getrlimit(RLIMIT_SIGPENDING, &limit) == 0 &&
        limit.rlim_cur / 4 < UINT32_MAX)
        most = (uint32_t)(limit.rlim_cur / 4);
    return 0;
}

static bool
is_possible(pid_t tid)
{
    return timers != NULL && tid > 0 && (uint32_t)tid < THREADS_TIDS;
}

static long
create_timer(clockid_t clock, pid_t to, uint64_t cookie, int *id)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = signals_number(SIGNALS_ASK)};
    if (event.sigev_signo == 0)
        return -EAGAIN;
    event.sigev_value.sival_ptr = (void *)cookie;
    event._sigev_un._tid = to;
    return arch_syscall(SYS_timer_create, clock, (long)&event, (long)id, 0, 0,
                        0);
}

/* Extend the range of tids that cpu_timer_drop_all searches to TID. */
static void
note_range(uint32_t tid)
{
    uint32_t seen = atomic_load(&highest_tid);
    while (tid > seen &&
           !atomic_compare_exchange_weak(&highest_tid, &seen, tid))
        ;
    seen = atomic_load(&lowest_tid);
    while (tid < seen && !atomic_compare_exchange_weak(&lowest_tid, &seen, tid))
        ;
}

/* The thread that exchanges NO_TIMER for BEING_MADE makes the timer; all other
 * threads see BEING_MADE, and leave the timer alone. */
int
cpu_timer_make(pid_t tid, uint64_t cookie)
{
    uint32_t none = NO_TIMER;
    int id;
    if (!is_possible(tid))
        return -EINVAL;
    if (!atomic_compare_exchange_strong(&timers[tid], &none, BEING_MADE))
        return 0;
    note_range((uint32_t)tid);
    long result = -EAGAIN;
    if (atomic_load(&count) < most)
        result = create_timer(clock_of_thread(tid), tid, cookie, &id);
    if (result == 0)
        atomic_fetch_add(&count, 1);
    atomic_store(&timers[tid], result == 0 ? (uint32_t)id + 1 : NO_TIMER);
    return (int)result;
}

/* Find the id of TID's timer. Returns false if there is none. */
static bool
find_timer(pid_t tid, int *id)
{
    if (!is_possible(tid))
        return false;
    uint32_t held = atomic_load_explicit(&timers[tid], memory_order_acquire);
    *id = (int)(held - 1);
    return held != NO_TIMER && held != BEING_MADE;
}

bool
cpu_timer_is_there(pid_t tid)
{
    int id;
    return find_timer(tid, &id);
}

void
cpu_timer_set(pid_t tid, uint64_t first, uint64_t interval)
{
    struct itimerspec when = {clock_timespec(interval), clock_timespec(first)};
    int id;
    if (find_timer(tid, &id))
        (void)arch_syscall(SYS_timer_settime, id, 0, (long)&when, 0, 0, 0);
}

void
cpu_timer_set_all(uint64_t first)
{
    for (uint32_t tid = atomic_load(&lowest_tid);
         tid <= atomic_load(&highest_tid); tid++)
        cpu_timer_set((pid_t)tid, first, 0);
}

uint64_t
cpu_timer_left(pid_t tid)
{
    struct itimerspec when = {0};
    int id;
    if (!find_timer(tid, &id) ||
        arch_syscall(SYS_timer_gettime, id, (long)&when, 0, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)when.it_value.tv_sec * NS_PER_SECOND +
           (uint64_t)when.it_value.tv_nsec;
}

/* One exchange decides which thread deletes the timer: the kernel may give the
 * id to another timer as soon as it has it back. */
void
cpu_timer_drop(pid_t tid)
{
    if (!is_possible(tid))
        return;
    uint32_t held = atomic_load(&timers[tid]);
    if (held == NO_TIMER || held == BEING_MADE ||
        !atomic_compare_exchange_strong(&timers[tid], &held, NO_TIMER))
        return;
    atomic_fetch_sub(&count, 1);
    (void)arch_syscall(SYS_timer_delete, (long)held - 1, 0, 0, 0, 0, 0);
}

void
cpu_timer_drop_all(void)
{
    for (uint32_t tid = atomic_load(&lowest_tid);
         atomic_load(&count) != 0 && tid <= atomic_load(&highest_tid); tid++)
        cpu_timer_drop((pid_t)tid);
}

void
cpu_timer_stop(void)
{
    cpu_timer_drop_all();
    if (process_timer >= 0)
        (void)arch_syscall(SYS_timer_delete, process_timer, 0, 0, 0, 0, 0);
    process_timer = -1;
}

void
cpu_timer_keep_process_clock(pid_t own_tid)
{
    struct itimerspec far = {.it_value.tv_sec = FAR_SECONDS};
    int id;
    if (create_timer(CLOCK_PROCESS_CPUTIME_ID, own_tid, 0, &id) != 0)
        return;
    process_timer = id;
    (void)arch_syscall(SYS_timer_settime, id, 0, (long)&far, 0, 0, 0);
}
