/* SPDX-License-Identifier: MIT */
/*
 * doze.c -- see doze.h. One word has its state, and the number of threads that
 * hold it:
 *
 *   ASLEEP -> AWAKE   by the sampler, when no thread holds it
 *          -> OVER    by the thread that ends the process
 *
 * The sampler looks at the time and sets no timer at first. A timer on a CPU
 * clock expires at a tick of the kernel, up to 10 ms late. Only a child that
 * waits in a crowd gets one, on the clock of its main thread, which is the only
 * thread until sampling begins. That thread rings the bell in our handler.
 */
#include <stdatomic.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "process/status.h"
#include "sampling/sampler_thread.h"
#include "sampling/trigger/cpu_timer.h"
#include "signals/cookie.h"
#include "crowd.h"
#include "doze.h"

/* CPU time of the process, in ns, from which on sampling is worth its cost: the
 * start costs some 2 ms. */
#define WORTH_NS 5000000u

/* CPU time of the process, in ns, from which on the end waits for a sampler
 * that had no CPU until then. */
#define LATE_NS (4 * WORTH_NS)

/* Time between two looks at the clock, in ns: the least, the time while the
 * process waits, and that while it waits in a crowd, where a timer helps. */
#define LOOK_NS 250000u
#define LOOK_MOST_NS 16000000u
#define LOOK_CROWD_NS 2000000000u

/* Error of the CPU time of the program, in ns: two clocks are read one after
 * the other. */
#define EXACT_NS 20000u

/* Each timer takes one of the signals that a user may have queued
 * (RLIMIT_SIGPENDING). A crowd takes at most 1 / CROWD_SHARE of these. */
#define CROWD_SHARE 4u

enum state { OVER, ASLEEP, AWAKE };
#define STATE_MASK 3u
#define HOLD 4u /* one thread that holds it */

static OF_PROFILE _Atomic uint32_t state;
static OF_PROFILE _Atomic bool is_hurried;
static OF_PROFILE _Atomic bool are_holds_over;
static OF_PROFILE _Atomic uint32_t attached;
static OF_PROFILE uint64_t latest;     /* CLOCK_MONOTONIC when it is to begin */
static OF_PROFILE uint64_t cpu_before; /* of the process, ns */
static OF_PROFILE bool is_child;       /* the process may be one of a crowd */
static OF_PROFILE bool is_in_crowd;    /* LATEST no longer holds */

void
doze_begin(uint64_t until, bool is_forked)
{
    latest = until;
    is_child = is_forked;
    cpu_before = clock_process();
    atomic_store(&state, ASLEEP);
}

bool
doze_is_on(void)
{
    return (atomic_load(&state) & STATE_MASK) == ASLEEP;
}

bool
doze_is_late(void)
{
    return doze_is_on() && clock_process() - cpu_before >= LATE_NS;
}

void
doze_hurry(uint64_t ns)
{
    if (atomic_load(&attached) != 0 || !sampler_thread_is_launched() ||
        sampler_thread_is_caller())
        return;
    atomic_store(&is_hurried, true);
    ask_ring();
    (void)sampler_thread_wait_for(&attached, 1, ns);
}

void
doze_attached(void)
{
    atomic_store(&attached, 1);
    sys_futex_wake(&attached, 1 << 30);
}

bool
doze_hold(void)
{
    uint32_t now = atomic_load(&state);
    while ((now & STATE_MASK) == ASLEEP)
        if (atomic_compare_exchange_weak(&state, &now, now + HOLD)) {
            if (!atomic_load(&are_holds_over))
                return true;
            doze_release();
            return false;
        }
    return false;
}

void
doze_release(void)
{
    uint32_t now = atomic_load(&state);
    while (now >= HOLD &&
           !atomic_compare_exchange_weak(&state, &now, now - HOLD))
        ;
    if (atomic_load(&is_hurried))
        ask_ring();
}

void
doze_end_holds(void)
{
    atomic_store(&are_holds_over, true);
    atomic_fetch_and(&state, STATE_MASK);
}

bool
doze_end(void)
{
    uint32_t now = atomic_load(&state);
    while ((now & STATE_MASK) == ASLEEP)
        if (atomic_compare_exchange_weak(&state, &now, OVER))
            return true;
    return false;
}

/* Have the main thread ring the bell when it has used NS of CPU time. */
static void
set_timer(uint64_t ns)
{
    struct status status;
    pid_t main = sys_getpid();
    if (status_read(main, &status) == 0 &&
        status.queued < status.queued_most / CROWD_SHARE &&
        cpu_timer_make(main, cookie_make_own(COOKIE_WAKE)) == 0)
        cpu_timer_set(main, ns, 0);
}

/* Whether the process, which is old enough to be sampled and has used USED ns,
 * is one of too many that have only waited. */
static bool
is_one_of_many(uint64_t used)
{
    is_in_crowd = is_child && !crowd_enter(CROWD_WAITING);
    if (is_in_crowd) {
        latest = UINT64_MAX;
        set_timer(WORTH_NS - used);
    }
    return is_in_crowd;
}

/* CPU time of the program since the doze began, in ns. The sampler's time is
 * not the program's, and grows until the second clock is read. */
static uint64_t
used_by_program(void)
{
    uint64_t own = clock_own(), all = clock_process();
    return all > own + cpu_before ? all - own - cpu_before : 0;
}

/* How long to sleep until the next look, 0 if it is time. *PAUSE is the length
 * of the last sleep, *SEEN the CPU time then. */
static uint64_t
next_pause(uint64_t *pause, uint64_t *seen)
{
    uint64_t now = clock_now(), used = used_by_program();
    if (atomic_load(&is_hurried) || used >= WORTH_NS ||
        (now >= latest && !is_one_of_many(used)))
        return 0;
    uint64_t most = is_in_crowd ? LOOK_CROWD_NS : LOOK_MOST_NS;
    bool waits = used < *seen + EXACT_NS;
    *seen = used;
    if (waits)
        *pause = *pause * 2 < most ? *pause * 2 : most;
    else
        *pause = WORTH_NS - used > LOOK_NS ? WORTH_NS - used : LOOK_NS;
    return latest - now < *pause ? latest - now : *pause;
}

/* Wakes the sleeper, if no thread holds it. */
static OF_PROFILE bool (*called)(void);

static bool
should_wake(void)
{
    uint32_t now = atomic_load(&state);
    return now == OVER ||
           (now == ASLEEP && (atomic_load(&is_hurried) || called()));
}

bool
doze_sleep(bool (*is_called)(void), void (*heed)(void))
{
    uint64_t pause = WORTH_NS / 2, seen = 0; /* ends at WORTH_NS */
    called = is_called;
    for (;;) {
        uint32_t asleep = ASLEEP;
        uint64_t ns = is_called() ? 0 : next_pause(&pause, &seen);
        if (ns == 0 && atomic_compare_exchange_strong(&state, &asleep, AWAKE)) {
            cpu_timer_drop_all();
            return true;
        }
        if (atomic_load(&state) == OVER) {
            cpu_timer_drop_all();
            return false;
        }
        serve_wait_unless(should_wake, clock_now() + (ns != 0 ? ns : LOOK_NS));
        heed();
    }
}
