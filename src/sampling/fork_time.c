/* SPDX-License-Identifier: MIT */
/*
 * fork_time.c -- see fork_time.h. Forks that take less than a period are put
 * together until there is about one period: a process that does little more
 * than fork need not write a profile of that.
 */
#include <stdbool.h>
#include <stddef.h>

#include "capture/measured.h"
#include "session.h"
#include "thread_time.h"
#include "fork_time.h"

/* The fork that the thread is in. Only a handler on top of one can begin
 * another, and the handler's fork is over before this one goes on. */
static __thread const struct regs *caller;
static __thread struct measured measured;
static __thread bool is_measured;

/* owed: ns of CPU time of short forks that no sample stands for yet. enough:
 * how many ns make a sample. That is random, so that of two places that fork in
 * turn not always the same one is shown. */
static __thread uint64_t owed, enough;

static uint64_t
draw_enough(void)
{
    uint64_t period = thread_time_period();
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
