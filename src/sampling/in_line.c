/* SPDX-License-Identifier: MIT */
/*
 * in_line.c -- see in_line.h. Time in line is taken from the rest of wall time
 * (thread_time.h). At first it has no place. Then it gets one, and is written
 * when another place follows.
 *
 * The hard thing is that the kernel does not show where a thread stands in
 * line. How long it stood there is known only when it gets its CPU.
 */
#include "base/clock.h"
#include "base/state.h"
#include "capture/waiting.h"
#include "journal/journal.h"
#include "process/look.h"
#include "process/threads.h"
#include "alarms.h"
#include "wait.h"
#include "wait_times.h"
#include "in_line.h"

/* If no look finds a place in LINE_NS ns, time in line is shown at the most
 * likely place. LINE_MOST_NS ns at one place get a record of their own. */
#define LINE_NS 100000000u
#define LINE_MOST_NS 16000000u

uint64_t
in_line_read(struct thread_time *account, uint32_t index, uint64_t *times)
{
    const struct look_line before = account->in_line;
    const struct look_line line = look_line(threads_at(index)->tid);
    *times = 0;
    /* The kernel does not show it. */
    if (line.ns < before.ns)
        return 0;
    account->in_line = line;
    *times = line.slices - before.slices;
    return line.ns - before.ns;
}

void
in_line_flush(struct thread_time *account, uint32_t index, uint64_t now)
{
    uint64_t ns = account->line;
    account->line = 0;
    if (ns == 0)
        return;
    struct record_sample sample =
        journal_make_sample(STATE_RUNQUEUE, account->line_at, now - ns, now);
    if (journal_sample(&sample, index) == 0)
        account->rest += (int64_t)ns;
    account->last = NULL;
}

/* The thread was in line at PLACE for NS up to NOW. While the place is the
 * same, the time grows. Returns false, without effect, if the place has no
 * stack. */
static bool
add_line(struct thread_time *account, uint32_t index,
         const struct journal_place *place, uint64_t ns, uint64_t now)
{
    const struct journal_place *at = &account->line_at;
    if (place->node == 0)
        return false;
    if (ns == 0)
        return true;
    if (!journal_is_same_place(at, place))
        in_line_flush(account, index, now);
    account->line_at = *place;
    account->line += ns;
    if (account->line >= LINE_MOST_NS)
        in_line_flush(account, index, now);
    return true;
}

void
in_line_place(struct thread_time *account, uint32_t index,
              const struct journal_place *place, uint64_t now)
{
    if (add_line(account, index, place, account->unplaced, now))
        account->unplaced = 0;
    account->has_woken = false;
}

/* No look tells the place. A thread that wakes stands in line first: that is at
 * the place of the wait. Otherwise it was about to run on. The labels are those
 * of that place. So no stack is shown with labels that the thread did not have
 * there. A line of long ago is shown at its time. */
void
in_line_guess(struct thread_time *account, uint32_t index, uint64_t now)
{
    bool is_wait = account->has_woken || account->ran_at.node == 0;
    bool is_old =
        account->unplaced != 0 && now > account->unplaced_until + LINE_NS;
    if (is_old) {
        in_line_flush(account, index, now);
        now = account->unplaced_until;
    }
    in_line_place(account, index,
                  is_wait ? &account->waited_at : &account->ran_at, now);
    if (is_old)
        in_line_flush(account, index, now);
}

/* Show that the thread waited at PLACE for NS before NOW. */
static void
show_wait(struct thread_time *account, uint32_t index,
          const struct journal_place *place, uint64_t ns, uint64_t now)
{
    if (ns == 0)
        return;
    struct record_sample sample =
        journal_make_sample(STATE_WAITING, *place, now - ns, now);
    sample.count = ns > thread_time_period() ? ns / thread_time_period() : 1;
    if (journal_sample(&sample, index) == 0)
        account->rest += (int64_t)ns;
    account->last = NULL;
}

void
in_line_note(struct thread_time *account, uint32_t index, uint64_t queued,
             uint64_t times, uint64_t distance, uint64_t now)
{
    const struct journal_place place = account->stood_at;
    uint64_t rest = account->rest > 0 ? (uint64_t)account->rest : 0;
    uint64_t own = place.node != 0 ? account->held + account->stood : 0;
    if (queued < account->stood)
        queued = account->stood;
    if (queued > rest)
        queued = rest;
    /* The kernel counts time in line when it is over, so a smaller value means
     * nothing. */
    account->mostly_queues |= queued != 0 && queued >= rest / 2;
    alarms_see_queue(queued);
    if (place.node != 0 && times <= 1 && queued > distance && queued > own)
        own = queued;
    own = own < rest ? own : rest;
    uint64_t first = times > 1 ? queued / times : queued;
    first = first > account->stood ? first : account->stood;
    first = first < queued ? first : queued;
    first = first < own ? first : own;
    (void)add_line(account, index, &place, first, now);
    account->rest -= (int64_t)own;
    show_wait(account, index, &place, own - first, now);
    queued = queued - first < rest - own ? queued - first : rest - own;
    if (account->unplaced == 0)
        account->unplaced_since = now;
    if (queued != 0)
        account->unplaced_until = now;
    account->unplaced += queued;
    account->rest -= (int64_t)queued;
    account->stood_at.node = 0;
    account->held = account->stood = 0;
}

void
in_line_see(struct thread_time *account, uint32_t index, uint64_t clock,
            uint64_t now)
{
    struct journal_place place;
    struct regs at;
    bool has_note = waiting_read(index, &at);
    if (has_note && at.sp != account->noted.sp)
        account->same_waits = 0;
    if (has_note) {
        account->noted = at;
        account->noted_clock = clock;
    }
    if (has_note && wait_place_in_line(index, &at, clock, &place)) {
        account->stood_at = place;
        if (wait_times_find(account, index, &place, now, NULL))
            return;
        account->held = account->rest > 0 ? (uint64_t)account->rest : 0;
        in_line_place(account, index, &place, now);
    } else if (!has_note && account->noted.pc != 0 &&
               account->ran_at.node != 0) {
        in_line_place(account, index, &account->ran_at, now);
    } else {
        in_line_guess(account, index, now);
    }
}

void
in_line_settle(struct thread_time *account, uint32_t index, uint64_t now)
{
    in_line_guess(account, index, now);
    in_line_flush(account, index, now);
    account->rest += (int64_t)account->unplaced;
    account->unplaced = 0;
}

void
in_line_end(struct thread_time *account, uint32_t index, uint64_t end,
            bool is_alive)
{
    uint64_t times = 0;
    if (thread_time_is_cpu_only())
        return;
    bool is_long = account->rest >= (int64_t)thread_time_period();
    uint64_t queued =
        is_long && is_alive ? in_line_read(account, index, &times) : 0;
    in_line_note(account, index, queued, times, UINT64_MAX, end);
    in_line_settle(account, index, end);
    if (!is_long || is_alive || !account->mostly_queues ||
        account->ran_at.node == 0)
        return;
    uint64_t left = (uint64_t)account->rest;
    account->rest = 0;
    (void)add_line(account, index, &account->ran_at, left, end);
    in_line_flush(account, index, end);
}

bool
in_line_may_wait(const struct thread_time *account, uint32_t index)
{
    struct regs at;
    return account->has_woken || account->noted.pc != 0 ||
           waiting_read(index, &at);
}

void
in_line_hurry(struct thread_time *account, uint32_t index, uint64_t now)
{
    if (account->unplaced != 0 && (now - account->unplaced_since > LINE_NS ||
                                   !in_line_may_wait(account, index)))
        in_line_guess(account, index, now);
}
