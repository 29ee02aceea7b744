/* SPDX-License-Identifier: MIT */
/*
 * points_end.c -- shows what a thread did up to its end, or up to the end of a
 * session or of a file; see points_end.h.
 */
#include "base/clock.h"
#include "target/threads.h"
#include "account.h"
#include "journal.h"
#include "points.h"
#include "points_end.h"
#include "rates.h"
#include "unsampled.h"
#include "wait.h"

/* The thread is at its end, and for some time it was seen neither running nor
 * waiting: that is shown without a stack. Less than a period is what looks at
 * random instants may miss. */
static void
show_rest(struct account *account, uint32_t index, uint64_t end)
{
    if (account->rest < (int64_t)account_period() || account_is_cpu_only())
        return;
    uint64_t rest = (uint64_t)account->rest;
    struct record_sample sample = {.time = end - rest,
                                   .duration = rest,
                                   .wall = rest,
                                   .count = 1,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state = STATE_WAITING,
                                   .trigger = TRIGGER_KEPT};
    journal_sample(&sample, index);
}

/* The thread's CPU clock reads CLOCK at END, up to which all is to be shown.
 * Returns the CPU time since the last look. */
static uint64_t
show_all(struct account *account, uint32_t index, uint64_t clock, uint64_t end)
{
    uint64_t ran = clock > account->seen ? clock - account->seen : 0;
    uint64_t waited = account->wait_until;
    unsampled_flush(account, index);
    rates_run(account, clock);
    if (account->wait != NULL) {
        /* All but the CPU time that followed was its wait. */
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
points_end_thread(uint32_t index, uint64_t clock, uint64_t start, uint64_t end,
                  bool exact)
{
    struct account *account = account_of(index);
    if (start < account->known_from)
        account->rest += (int64_t)(account->known_from - start);
    points_explain(show_all(account, index, clock, end));
    account_deactivate(index);
    journal_thread_end(index, clock > account->base ? clock - account->base : 0,
                       exact ? THREAD_END_EXACT : 0, end);
}

void
points_end(uint64_t now)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        struct account *account = account_of(i);
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
        account_keep(i, cpu);
    }
}

/* Its wait is closed, or its time until NOW is known, and its CPU clock read.
 * What is not shown yet, less than a look finds, is shown in the next file. */
static void
turn_thread(struct account *account, uint32_t index, uint64_t now)
{
    uint64_t clock = clock_thread(threads_at(index)->tid);
    bool is_there = clock != CLOCK_NONE;
    uint64_t ran = is_there ? clock - account->seen : 0, end = account->seen_at;
    unsampled_flush(account, index);
    rates_run(account, account->seen + ran);
    if (account->wait != NULL) {
        end = account->wait_until;
        if (is_there && now > end + ran)
            end = now - ran;
        wait_close(index, end);
        /* It may wait on: that is found out at once. */
        account->is_new = is_there;
    }
    if (is_there) {
        account->rest += (int64_t)(now - end) - (int64_t)ran;
        account->seen = clock;
        account->seen_at = account->wait_until = now;
    }
    points_explain(ran);
    journal_thread_end(index, account->seen - account->base,
                       THREAD_END_ALIVE | (is_there ? THREAD_END_EXACT : 0u),
                       now);
}

static bool
is_followed(uint32_t index)
{
    return threads_at(index)->tid != 0 && !account_of(index)->is_ignored &&
           !account_of(index)->has_ended;
}

void
points_end_file(uint64_t now)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (is_followed(i))
            turn_thread(account_of(i), i, now);
}

void
points_end_file_next(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        account_turn(i);
        if (is_followed(i) && account_of(i)->is_new)
            account_activate(i);
    }
}
