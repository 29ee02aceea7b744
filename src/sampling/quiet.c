/* SPDX-License-Identifier: MIT */
/*
 * quiet.c -- see quiet.h. There are two searches for quiet threads that have
 * run. The quick one begins at SLACK_NS of unexplained time, and ends when that
 * is explained. The slow one looks at all of them, one after the other.
 *
 * The hard thing is a thread that runs for less than SLACK_NS and waits
 * elsewhere. In an idle process no more CPU time would ever add to that, and
 * the thread would be shown at its old place for ever.
 */
#include "base/clock.h"
#include "base/state.h"
#include "process/threads.h"
#include "thread_time.h"
#include "quiet.h"

/* CPU time, in ns, that needs no quick search. Clocks that are read one after
 * the other differ by as much. */
#define SLACK_NS 20000

/* CPU time, in ns, that needs no search. A thread that wakes and waits again
 * uses more. */
#define DOUBT_NS 1500

/* Pause between two looks of the slow search, in ns, at a thrift of 1. */
#define SLOW_NS 1000000u

static OF_PROFILE int64_t unexplained; /* ns of CPU time */
static OF_PROFILE int64_t doubted;     /* a slow search must explain it */
static OF_PROFILE uint64_t process_seen, own_seen;
static OF_PROFILE uint32_t cursor;  /* the next entry of the quick search */
static OF_PROFILE uint32_t scanned; /* entries that it has passed */
static OF_PROFILE uint32_t quick;   /* its looks that are left in this tick */
static OF_PROFILE uint32_t slow;    /* those of the slow search */
static OF_PROFILE uint32_t slow_cursor;
static OF_PROFILE uint32_t slow_left; /* entries that it has not passed */
static OF_PROFILE uint64_t slow_at;   /* its looks up to this time are done */
static OF_PROFILE bool is_due;        /* it must begin, or begin again */

void
quiet_begin(void)
{
    unexplained = doubted = 0;
    process_seen = clock_process();
    own_seen = clock_own();
    cursor = scanned = 0;
    slow_cursor = slow_left = 0;
    is_due = false;
}

void
quiet_explain(uint64_t cpu)
{
    unexplained -= (int64_t)cpu;
}

/* Now the process's clock includes all that was looked at. If more is explained
 * than was used, the time of a thread may have been explained twice. That may
 * hide another one. */
static void
doubt(void)
{
    is_due |= unexplained < -DOUBT_NS || unexplained > doubted + DOUBT_NS;
    if (unexplained < 0)
        unexplained = 0;
    if (doubted > unexplained)
        doubted = unexplained;
}

/* Give the slow search the looks that it may have until NOW. */
static void
begin_slowly(uint64_t now, uint32_t thrift)
{
    uint64_t pause = (uint64_t)SLOW_NS * thrift;
    slow = 0;
    if (slow_left == 0 && !is_due) {
        slow_at = now;
        return;
    }
    if (slow_left == 0) {
        slow_left = threads_limit();
        doubted = unexplained;
        is_due = false;
    }
    slow = (uint32_t)((now - slow_at) / pause);
    slow_at += slow * pause;
}

uint64_t
quiet_read(uint64_t now, uint32_t most, uint32_t thrift, uint64_t *process)
{
    /* Each reading of a thread's clock updates the process's clock. */
    *process = clock_process();
    uint64_t own = clock_own();
    unexplained += (int64_t)(*process - process_seen);
    unexplained -= (int64_t)(own - own_seen);
    process_seen = *process;
    own_seen = own;
    if (cursor >= threads_limit())
        cursor = 0;
    quick = most;
    doubt();
    begin_slowly(now, thrift);
    return own;
}

static bool
is_quiet(uint32_t index)
{
    const struct thread_time *account = thread_time_of(index);
    return threads_at(index)->tid != 0 && !account->is_active &&
           !account->has_ended && !account->is_ignored;
}

uint32_t
quiet_next(void)
{
    uint32_t limit = threads_limit();
    while (unexplained > SLACK_NS && quick > 0 && scanned < limit) {
        uint32_t index = cursor++ % limit;
        scanned++;
        if (!is_quiet(index))
            continue;
        quick--;
        return index;
    }
    while (slow > 0 && slow_left > 0 && limit > 0) {
        uint32_t index = slow_cursor++ % limit;
        slow_left--;
        if (!is_quiet(index))
            continue;
        slow--;
        return index;
    }
    return THREADS_NONE;
}

void
quiet_end(uint64_t now)
{
    if (scanned >= threads_limit()) {
        /* What a thread ran after its look in an earlier tick is lost here. */
        unexplained = 0;
        is_due = true;
    }
    if (unexplained <= SLACK_NS) {
        scanned = 0;
        thread_time_confirm_quiet(now);
    }
}
