/* SPDX-License-Identifier: MIT */
/*
 * observe_end.c -- see observe_end.h. Shows what a thread did up to its own
 * end, or that of a session or file.
 */
#include "base/clock.h"
#include "journal/journal.h"
#include "process/threads.h"
#include "cpu_without_samples.h"
#include "observe.h"
#include "rates.h"
#include "thread_time.h"
#include "wait.h"
#include "observe_end.h"

/* Show the rest of wall time at the thread's end, in which it was seen neither
 * running nor waiting. That is shown without a stack. A rest of less than a
 * period is left out: looks at random instants may miss as much. */
static void
show_rest(struct thread_time *account, uint32_t index, uint64_t end)
{
    if (account->rest < (int64_t)thread_time_period() ||
        thread_time_is_cpu_only())
        return;
    struct record_sample sample =
        journal_make_sample(STATE_WAITING, (struct journal_place){0},
                            end - (uint64_t)account->rest, end);
    journal_sample(&sample, index);
}

/* Show all of the thread's time up to END, when its CPU clock reads CLOCK.
 * Returns the CPU time since the last look. */
static uint64_t
show_all(struct thread_time *account, uint32_t index, uint64_t clock,
         uint64_t end)
{
    uint64_t ran = clock > account->seen ? clock - account->seen : 0;
    uint64_t waited = account->wait_until;
    cpu_without_samples_flush(account, index);
    rates_run(account, clock);
    if (account->wait != NULL) {
        /* The wait reaches to END, less the CPU time that followed it. */
        if (end > waited + ran)
            waited = end - ran;
        wait_close(index, waited);
    } else if (end > account->seen_at) {
        account->rest += (int64_t)(end - account->seen_at) - (int64_t)ran;
    }
    show_rest(account, index, end);
    return ran;
}

void
observe_end_thread(uint32_t index, uint64_t clock, uint64_t start, uint64_t end,
                   bool exact)
{
    struct thread_time *account = thread_time_of(index);
    if (start < account->known_from)
        account->rest += (int64_t)(account->known_from - start);
    observe_explain(show_all(account, index, clock, end));
    thread_time_deactivate(index);
    journal_thread_end(index, clock > account->base ? clock - account->base : 0,
                       exact ? THREAD_END_EXACT : 0, end);
}

void
observe_end(uint64_t now)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        struct thread_time *account = thread_time_of(i);
        if (threads_at(i)->tid == 0 || account->is_ignored ||
            account->has_ended)
            continue;
        uint64_t clock = clock_thread(threads_at(i)->tid);
        bool exact = clock != CLOCK_NONE;
        if (!exact)
            clock = account->seen;
        uint64_t cpu = clock > account->base ? clock - account->base : 0;
        (void)show_all(account, i, clock, now);
        account->seen = clock;
        journal_thread_end(i, cpu,
                           THREAD_END_ALIVE | (exact ? THREAD_END_EXACT : 0),
                           now);
        thread_time_keep(i, cpu);
    }
}

/* Close the thread's wait, or add its time until NOW, and read its CPU clock.
 * What is not shown yet, less than a look finds, is shown in the next file. */
static void
rotate_thread(struct thread_time *account, uint32_t index, uint64_t now)
{
    uint64_t clock = clock_thread(threads_at(index)->tid);
    bool is_there = clock != CLOCK_NONE;
    uint64_t ran = is_there ? clock - account->seen : 0, end = account->seen_at;
    cpu_without_samples_flush(account, index);
    rates_run(account, account->seen + ran);
    if (account->wait != NULL) {
        end = account->wait_until;
        if (is_there && now > end + ran)
            end = now - ran;
        wait_close(index, end);
        /* It may still wait: a look at once finds that out. */
        account->is_new = is_there;
    }
    if (is_there) {
        account->rest += (int64_t)(now - end) - (int64_t)ran;
        account->seen = clock;
        account->seen_at = account->wait_until = now;
    }
    observe_explain(ran);
    journal_thread_end(index, account->seen - account->base,
                       THREAD_END_ALIVE | (is_there ? THREAD_END_EXACT : 0u),
                       now);
}

static bool
is_followed(uint32_t index)
{
    return threads_at(index)->tid != 0 && !thread_time_of(index)->is_ignored &&
           !thread_time_of(index)->has_ended;
}

void
observe_end_before_rotate(uint64_t now)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (is_followed(i))
            rotate_thread(thread_time_of(i), i, now);
}

void
observe_end_after_rotate(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        thread_time_rotate(i);
        if (is_followed(i) && thread_time_of(i)->is_new)
            thread_time_activate(i);
    }
}
