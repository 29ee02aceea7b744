/* SPDX-License-Identifier: MIT */
/* ender.c -- see ender.h. */
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"
#include "ending.h"
#include "mute_signals.h"
#include "ender.h"

static OF_PROCESS _Atomic uint32_t ender;
static OF_PROCESS _Atomic uint64_t began;
static OF_PROCESS _Atomic int
    deferred; /* the signal that came to it meanwhile */

bool
ender_run(void (*end)(void *), void *argument, int signo)
{
    uint32_t none = 0;
    uint64_t old = 0;
    /* Blocked first: exit in a handler on top of us would wait for us. */
    mute_signals_handlers(true, signo, &old);
    bool is_ender =
        phase_now() == PHASE_RUNNING &&
        atomic_compare_exchange_strong(&ender, &none, (uint32_t)sys_gettid());
    if (is_ender && phase_move(PHASE_RUNNING, PHASE_ENDING)) {
        atomic_store(&began, clock_now());
        end(argument);
        phase_set(PHASE_ENDED);
    }
    if (is_ender) {
        atomic_store(&ender, 0);
        sys_futex_wake(&ender, 1 << 30);
    }
    mute_signals_handlers_end(old);
    return is_ender;
}

pid_t
ender_tid(void)
{
    return (pid_t)atomic_load(&ender);
}

uint64_t
ender_since(void)
{
    return atomic_load(&began);
}

void
ender_wait(void)
{
    uint32_t tid;
    uint64_t until = clock_now() + ENDING_NS;
    while ((tid = atomic_load(&ender)) != 0 && clock_now() < until)
        sys_futex_wait(&ender, tid, until);
}

void
ender_stay_behind(void)
{
    static _Atomic uint32_t never;
    pid_t tid = ender_tid();
    if (tid == 0 || tid == sys_gettid())
        return;
    uint64_t late = clock_now() - ender_since();
    if (late > ENDING_WRITE_NS)
        late = ENDING_WRITE_NS;
    ender_wait();
    uint64_t until = clock_now() + late;
    while (clock_now() < until)
        sys_futex_wait(&never, 0, until);
}

bool
ender_defer(int signo)
{
    if (ender_tid() != sys_gettid())
        return false;
    atomic_store(&deferred, signo);
    return true;
}

int
ender_signal(void)
{
    return atomic_exchange(&deferred, 0);
}
