/* SPDX-License-Identifier: MIT */
/*
 * fork_time.c -- see fork_time.h. The CPU times of short forks are added up.
 * When they reach about one period, they become one sample. So a process that
 * does little more than fork need not write a profile.
 */
#include <stdbool.h>
#include <stddef.h>

#include "capture/measured.h"
#include "epoch.h"
#include "session.h"
#include "fork_time.h"

/* CALLER is where the stack of the calling thread's present fork begins. A fork
 * handler can begin another fork inside this one. That inner fork is over
 * before the outer fork goes on. */
static __thread const struct regs *caller;
static __thread struct measured measured;
static __thread bool is_measured;

/* OWED: CPU time of forks that have no sample yet, in ns. ENOUGH: the next
 * sample is taken when OWED reaches it, in ns; 0: not drawn yet. ENOUGH is
 * random. So each of two places that fork in turn appears in some samples. */
static __thread uint64_t owed, enough;

static uint64_t
draw_enough(void)
{
    uint64_t period = epoch_period();
    uint64_t random = (measured.time ^ measured.clock) * 0x9e3779b97f4a7c15u;
    return period / 2 + (random >> 32) % (period + 1);
}

const struct regs *
fork_time_enter(const struct regs *at)
{
    const struct regs *outer = caller;
    caller = at;
    return outer;
}

void
fork_time_leave(const struct regs *outer)
{
    caller = outer;
}

void
fork_time_begin(void)
{
    is_measured = session_is_on();
    if (is_measured)
        measured_begin(&measured);
}

void
fork_time_end(void)
{
    if (is_measured)
        measured_end(&measured);
}

void
fork_time_take(void)
{
    struct regs own;
    arch_entry(&own, (const void *)fork_time_take);
    bool is_due = is_measured && session_is_on();
    is_measured = false;
    if (!is_due)
        return;
    if (enough == 0)
        enough = draw_enough();
    owed += measured.cpu;
    if (owed < enough)
        return;
    measured.shown = owed;
    owed = enough = 0;
    measured_take(&measured, caller != NULL ? caller : &own);
}

void
fork_time_forget(void)
{
    measured_forget();
    is_measured = false;
    owed = enough = 0;
}
