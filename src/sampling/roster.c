/* SPDX-License-Identifier: MIT */
/*
 * roster.c -- see roster.h. A thread ends twice: when it reports its end with
 * its exact CPU time (thread_ends.h), and when the kernel no longer lists it.
 * Its entry stays until the second, because the kernel still lists it after the
 * first. The entry goes earlier if the kernel gives the tid to another thread:
 * then the CPU clock goes back.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "journal/journal.h"
#include "journal/journal_growing.h"
#include "process/threads.h"
#include "sampling/trigger/cpu_timer.h"
#include "sampling/trigger/trigger.h"
#include "cpu_without_samples.h"
#include "epoch.h"
#include "harvest.h"
#include "observe.h"
#include "observe_end.h"
#include "rates.h"
#include "registry.h"
#include "thread_ends.h"
#include "thread_time.h"
#include "roster.h"

/* The reading of the list may take this share of the time: 1/50 if threads were
 * made or have ended, 1/1000 if not. When threads were made or have ended, no
 * pause is longer than PAUSE_MAX_NS: the process lives until its last thread is
 * seen to be gone. */
#define SHARE_STALE 50u
#define SHARE_QUIET 1000u
#define PAUSE_MAX_NS 1000000000u

/* Number of threads above which it is dear to read the process's CPU clock. */
#define MANY_THREADS 32u

static const struct settings *settings;
static uint64_t last_reading;
static uint64_t reading_cost; /* CPU time: wall time would count preemption */
static uint64_t unseen[JOURNAL_GROWING_AGES]; /* ns of CPU time */
static uint32_t total;
static bool has_begun, has_started, is_resting, is_alone, has_new, keeps_clock;
static bool has_entered; /* the first threads were entered */
/* has_changed: since the list was read, a thread has reported its end, or the
 * number of threads was different. last_count: when that number was last read.
 */
static bool has_changed;
static uint64_t last_count;

static bool
is_wanted(pid_t tid)
{
    return !settings_registered_only(settings) || registry_has(tid);
}

/* Count the thread as part of the profile: once, however often sampling begins.
 */
static void
count_thread(struct thread_time *account)
{
    total += !account->past.is_counted;
    account->past.is_counted = true;
    has_new = true;
}

/* Whether a thread that is entered now lived before the sampler began. */
static bool
is_early(void)
{
    return !has_entered && !is_resting && settings->since != 0;
}

/* Open the time of a thread whose CPU clock reads CLOCK and that has no sample
 * yet. Its CPU time is written without a stack, and the first look finds out
 * where it waits since it ran. The beginning of another thread than the first
 * is not known; all of its CPU time is shown. */
static void
open_early(uint32_t index, uint64_t clock, uint64_t now)
{
    bool is_first = threads_at(index)->tid == settings->pid;
    uint64_t base = is_first ? settings->base : 0;
    uint64_t before = is_first ? settings->clock : 0;
    uint64_t since = is_first ? settings->since : now - clock;
    if (since < settings->since || clock < before)
        since = settings->since;
    thread_time_open(index, clock, since, TRIGGER_NONE);
    struct thread_time *account = thread_time_of(index);
    account->base = base < clock ? base : clock;
    account->rest = clock > before ? -(int64_t)(clock - before) : 0;
    account->rated = account->base;
    cpu_without_samples_early(index, clock - account->base, since, now);
}

static void
add_thread(uint32_t index)
{
    pid_t tid = threads_at(index)->tid;
    uint64_t clock = clock_thread(tid), now = clock_now();
    bool existed = !has_begun;
    ask_set_stack(index, 0, 0, 0);
    thread_time_forget(index);
    if (is_resting || !is_wanted(tid)) {
        thread_time_ignore(index);
        return;
    }
    count_thread(thread_time_of(index));
    if (clock == CLOCK_NONE)
        clock = 0;
    /* What a thread used before the profiler began is not shown. */
    bool is_ours =
        settings->is_child || (!existed && !settings_registered_only(settings));
    uint64_t lived = is_ours ? clock : 0;
    if (is_early())
        open_early(index, clock, now);
    else
        thread_time_open(index, is_ours ? 0 : clock, now - lived,
                         has_started ? trigger_of_thread(tid) : TRIGGER_NONE);
    if (existed)
        trigger_prepare(tid);
}

/* A thread came and went without any sample or look. The CPU time of such
 * threads is kept by their age, in quarters of a period. In a profile, samples
 * of other threads of the same age stand for them. */
static void
note_unseen(uint64_t cpu)
{
    uint64_t step = epoch_period() / 4;
    observe_explain(cpu);
    rates_unseen(cpu);
    for (unsigned i = 0; i < JOURNAL_GROWING_AGES && cpu > i * step; i++) {
        uint64_t part = cpu - i * step;
        if (part > step && i + 1 < JOURNAL_GROWING_AGES)
            part = step;
        unseen[i] += part;
        journal_growing_short_threads(i, i * step, unseen[i]);
    }
}

/* A thread has reported its end. It may have been looked at after that, because
 * it runs on for a moment. */
static void
note_end(const struct thread_end *end)
{
    uint32_t index = threads_indexes()[end->tid];
    if (index == 0) {
        if (!settings_registered_only(settings) && !is_resting)
            note_unseen(end->cpu);
        return;
    }
    struct thread_time *account = thread_time_of(index - 1);
    uint64_t cpu = end->cpu > account->seen ? end->cpu : account->seen;
    if (account->has_ended || cpu - end->cpu > HARVEST_LEAVING_NS)
        return;
    if (!account->is_ignored && end->name[0] != '\0')
        journal_thread_name(index - 1, end->name);
    if (!account->is_ignored)
        observe_end_thread(index - 1, cpu, end->start, end->time, true);
    account->seen = cpu;
    account->has_ended = true;
    account->ended_at = end->time;
}

static void
note_ends(void)
{
    struct thread_end end;
    for (; thread_ends_next_end(&end); has_changed = true)
        note_end(&end);
}

static void
on_thread(uint32_t index, bool gone)
{
    struct thread_time *account = thread_time_of(index);
    if (!gone) {
        add_thread(index);
        return;
    }
    registry_remove(threads_at(index)->tid);
    if (account->is_ignored)
        return;
    /* The thread may have reported its end since the reports were last read. */
    note_ends();
    harvest_thread_gone(index);
    cpu_timer_drop(threads_at(index)->tid);
    if (!account->has_ended)
        observe_end_thread(index, account->seen, account->known_from,
                           account->seen_at, false);
    thread_time_deactivate(index);
}

void
roster_begin(const struct settings *given, bool starts_now)
{
    settings = given;
    last_reading = last_count = reading_cost = 0;
    memset(unseen, 0, sizeof(unseen));
    total = 0;
    has_begun = given->is_child;
    has_started = is_alone = has_new = keeps_clock = has_changed = false;
    is_resting = !starts_now;
    has_entered = false;
    thread_ends_reset();
    threads_begin(given->pid, sys_gettid(), on_thread, given->has_own_files);
}

void
roster_prepare(void)
{
    threads_refresh();
    for (uint32_t i = 0; is_resting && i < threads_limit(); i++)
        if (threads_at(i)->tid != 0)
            trigger_prepare(threads_at(i)->tid);
    has_begun = has_entered = true;
}

/* Go on with the thread of INDEX, unless its tid now belongs to another thread,
 * or it is not to be profiled. */
static void
reopen_thread(uint32_t index, uint64_t now)
{
    pid_t tid = threads_at(index)->tid;
    uint64_t clock = clock_thread(tid);
    if (clock == CLOCK_NONE || !is_wanted(tid))
        return;
    if (clock < thread_time_of(index)->seen) {
        threads_remove(index);
        index = threads_index(tid);
        if (index == THREADS_NONE)
            return;
    }
    count_thread(thread_time_of(index));
    thread_time_open(index, clock, now, TRIGGER_NONE);
}

/* The triggers of all threads are ready from now on. */
static void
note_early(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        pid_t tid = threads_at(i)->tid;
        uint64_t clock = tid != 0 && !thread_time_of(i)->is_ignored
                             ? clock_thread(tid)
                             : CLOCK_NONE;
        if (clock != CLOCK_NONE)
            rates_start(thread_time_of(i), clock);
    }
}

void
roster_start(uint64_t now, bool is_late)
{
    roster_update(now);
    for (uint32_t i = 0; is_late && i < threads_limit(); i++)
        if (threads_at(i)->tid != 0)
            reopen_thread(i, now);
    has_started = true;
    is_resting = false;
    roster_rearm();
    note_early();
}

/* Remove threads that have ended and whose tid belongs to another thread by
 * now, and add threads that have registered. */
static void
update_entries(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        const struct thread_time *account = thread_time_of(i);
        pid_t tid = threads_at(i)->tid;
        if (tid == 0)
            continue;
        if (account->has_ended && clock_thread(tid) < account->seen)
            threads_remove(i);
        else if (account->is_ignored && !is_resting && is_wanted(tid))
            add_thread(i);
    }
}

/* Returns for how many ns the list that was last read is good. */
static uint64_t
list_pause(uint64_t now)
{
    if (now - last_count >= ROSTER_NS) {
        last_count = now;
        has_changed = has_changed || threads_count_differs();
    }
    bool is_stale = threads_are_stale() || has_changed;
    uint64_t pause = reading_cost * (is_stale ? SHARE_STALE : SHARE_QUIET);
    if (is_stale)
        return pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
    return pause > ROSTER_NS ? pause : ROSTER_NS;
}

void
roster_update(uint64_t now)
{
    note_ends();
    if (now - last_reading < list_pause(now))
        return;
    uint64_t before = clock_own();
    has_changed = false;
    update_entries();
    if (threads_refresh() == 0)
        is_alone = true;
    if (!keeps_clock && threads_count() > MANY_THREADS) {
        keeps_clock = true;
        cpu_timer_keep_process_clock(sys_gettid());
    }
    last_reading = clock_now();
    reading_cost = clock_own() - before;
}

void
roster_rearm(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        struct thread_time *account = thread_time_of(i);
        if (threads_at(i)->tid == 0 || account->is_ignored)
            continue;
        cpu_without_samples_flush(account, i);
        account->trigger = trigger_of_thread(threads_at(i)->tid);
        /* This trigger could not see what the thread ran until now. */
        account->given = account->ticks_clock = account->seen;
        account->ticks = 0;
    }
}

bool
roster_has_new(void)
{
    bool had = has_new;
    has_new = false;
    return had;
}

bool
roster_is_alone(void)
{
    return is_alone;
}

uint32_t
roster_total(void)
{
    return total;
}

void
roster_before_rotate(uint64_t now)
{
    note_ends();
    observe_end_before_rotate(now);
}

void
roster_begin_epoch(void)
{
    memset(unseen, 0, sizeof(unseen));
    journal_growing_begin_epoch();
}

void
roster_after_rotate(void)
{
    memset(unseen, 0, sizeof(unseen));
    observe_end_after_rotate();
}

/* Read the names of threads that have run since theirs were read: they may have
 * another one. */
static void
follow_names(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 && thread_time_of(i)->has_run &&
            !thread_time_of(i)->has_ended)
            journal_follow_name(i);
}

void
roster_end(uint64_t now)
{
    if (is_resting)
        return;
    note_ends();
    follow_names();
    observe_end(now);
    is_resting = true;
    for (uint32_t i = 0; i < threads_limit(); i++) {
        thread_time_deactivate(i);
        if (!thread_time_of(i)->has_ended)
            thread_time_ignore(i);
    }
}
