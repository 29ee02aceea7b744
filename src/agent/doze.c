/* SPDX-License-Identifier: MIT */
/*
 * doze.c -- see doze.h. One word says how far it is, and how many threads hold
 * it there:
 *
 *   ASLEEP -> AWAKE   by the sampler, when no thread holds it
 *          -> OVER    by the thread that ends the process
 *
 * The sampler looks at the time and sets no timer. A timer on a CPU clock
 * expires at a tick of the kernel, up to 10 ms late. Its signal would need a
 * receiver.
 */
#include <stdatomic.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "sampling/sampler_thread.h"
#include "doze.h"

/* CPU time of the process, in ns, from which sampling pays: to begin costs some
 * 2 ms. */
#define WORTH_NS 5000000u

/* CPU time of the process, in ns. From it on, the end waits for a sampler that
 * had no CPU until then. */
#define LATE_NS (4 * WORTH_NS)

/* How long a program that makes its first thread waits, in ns, until the
 * sampler can see it. After that it goes on without. */
#define ATTACH_NS 5000000000u

/* Time between two looks at the clock, in ns: at least, and while the process
 * waits. */
#define LOOK_NS 250000u
#define LOOK_MOST_NS 16000000u

enum state { OVER, ASLEEP, AWAKE };
#define STATE_MASK 3u
#define HOLD 4u /* one thread that holds it there */

static OF_PROFILE _Atomic uint32_t state;
static OF_PROFILE _Atomic bool is_hurried;
static OF_PROFILE _Atomic bool are_holds_over;
static OF_PROFILE _Atomic uint32_t attached;
static OF_PROFILE uint64_t latest;     /* CLOCK_MONOTONIC when it is to begin */
static OF_PROFILE uint64_t cpu_before; /* of the process, ns */

void
doze_begin(uint64_t until)
{
    latest = until;
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
doze_hurry(void)
{
    if (atomic_load(&attached) != 0 || !sampler_thread_is_launched() ||
        sampler_thread_is_caller())
        return;
    atomic_store(&is_hurried, true);
    ask_ring();
    (void)sampler_thread_wait_for(&attached, 1, ATTACH_NS);
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

/* How long to sleep until the next look, 0 if it is time. *PAUSE is the length
 * of the last sleep, *SEEN the CPU time then. */
static uint64_t
next_pause(uint64_t *pause, uint64_t *seen)
{
    uint64_t now = clock_now(), used = clock_process() - cpu_before;
    if (atomic_load(&is_hurried) || used >= WORTH_NS || now >= latest)
        return 0;
    bool waits = *seen == used;
    *seen = used;
    if (waits)
        *pause = *pause * 2 < LOOK_MOST_NS ? *pause * 2 : LOOK_MOST_NS;
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
    uint64_t pause = WORTH_NS, seen = 0;
    called = is_called;
    for (;;) {
        uint32_t asleep = ASLEEP;
        uint64_t ns = is_called() ? 0 : next_pause(&pause, &seen);
        if (ns == 0 && atomic_compare_exchange_strong(&state, &asleep, AWAKE))
            return true;
        if (atomic_load(&state) == OVER)
            return false;
        serve_wait_unless(should_wake, clock_now() + (ns != 0 ? ns : LOOK_NS));
        heed();
    }
}
