/* SPDX-License-Identifier: MIT */
/*
 * roster.c -- see roster.h. A thread ends twice: when it reports its end with
 * its exact CPU time (thread_ends.h), and when the kernel no longer lists it.
 * Its entry stays until the second, because the kernel still lists it after the
 * first. The entry goes earlier if the kernel gives the tid to another thread:
 * then the CPU clock goes back.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/shared.h"
#include "journal/journal.h"
#include "process/look.h"
#include "process/threads.h"
#include "sampling/trigger/cpu_timer.h"
#include "sampling/trigger/trigger.h"
#include "epoch.h"
#include "harvest.h"
#include "observe.h"
#include "quiet.h"
#include "rates.h"
#include "registry.h"
#include "thread_ends.h"
#include "thread_time.h"
#include "roster.h"

/* The reading of the list may take this share of the time: 1/50 if threads were
 * made or have ended, 1/1000 if not. When threads were made or have ended, no
 * pause is longer than PAUSE_NS: the process lives until its last thread is
 * seen to be gone. Otherwise no pause is shorter: the list then finds only a
 * thread that replaces one which left unreported, and samples find such a
 * thread sooner. */
#define SHARE_STALE 50u
#define SHARE_QUIET 1000u
#define PAUSE_NS 1000000000u

/* Short threads come and go without any sample or look. One thread of the spool
 * represents them all, with one record for each of these ages. */
#define AGES 32u
#define SHORT_THREADS UINT32_MAX
#define SHORT_NAME "[short-lived]"

/* Above this number of threads, reading the process's CPU clock is
 * expensive. */
#define MANY_THREADS 32u

static const struct settings *settings;
static OF_PROFILE uint64_t last_reading;
/* CPU time of that reading in ns; wall time would include preemption. */
static OF_PROFILE uint64_t reading_cost;
static OF_PROFILE uint64_t unseen[AGES];       /* ns of CPU time */
static OF_PROFILE uint64_t unseen_place[AGES]; /* in the file; 0: none */
static OF_PROFILE uint32_t generation; /* of the file that these are in */
static OF_PROFILE uint32_t total;
static OF_PROFILE bool has_begun, has_started, is_resting, is_alone, has_new,
    keeps_clock;
static OF_PROFILE bool has_entered; /* the first threads were entered */
/* has_changed: since the list was read, a thread has reported its end, or the
 * number of threads has changed. last_count: when that number was last read.
 */
static OF_PROFILE bool has_changed;
static OF_PROFILE uint64_t last_count;
static OF_PROFILE uint64_t started_at; /* when sampling began last */

static bool
is_wanted(pid_t tid)
{
    struct registry_moment unused;
    return !settings_registered_only(settings) || registry_find(tid, &unused);
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

/* For a profile that began before the sampler: the thread belongs to it from
 * SINCE on, when its CPU clock read CLOCK. CPU time counts from BASE. */
struct early {
    uint64_t since, clock, base;
};

/* The thread of INDEX, whose CPU clock reads CLOCK. Only the first thread's
 * beginning is known. Any other is taken to have run since it began. */
static struct early
early_beginning(uint32_t index, uint64_t clock, uint64_t now)
{
    pid_t tid = threads_at(index)->tid;
    bool is_first = tid == settings->pid;
    if (settings_registered_only(settings)) {
        struct registry_moment own;
        if (registry_find(tid, &own) && own.time >= settings->since)
            return (struct early){own.time, own.clock, own.clock};
        if (!is_first)
            return (struct early){now, clock, clock};
    }
    if (is_first)
        return (struct early){settings->since, settings->clock, settings->base};
    return (struct early){now - clock, 0, 0};
}

/* Open the time of a thread whose CPU clock reads CLOCK and that has no sample
 * yet. Its CPU time is written without a stack. The first look finds where it
 * has waited since it ran. */
static void
open_early(uint32_t index, uint64_t clock, uint64_t now)
{
    struct early begin = early_beginning(index, clock, now);
    if (begin.since < settings->since || clock < begin.clock)
        begin.since = settings->since;
    thread_time_open(index, clock, begin.since, TRIGGER_NONE);
    struct thread_time *account = thread_time_of(index);
    account->base = begin.base < clock ? begin.base : clock;
    account->rest = clock > begin.clock ? -(int64_t)(clock - begin.clock) : 0;
    account->rated = account->base;
    observe_early(index, clock - account->base, begin.since, now);
}

/* Time in line for a CPU before the thread was profiled is not shown. */
static void
skip_queue(uint32_t index)
{
    if (!thread_time_is_cpu_only())
        thread_time_of(index)->in_line = look_line(threads_at(index)->tid);
}

/* Set *BEGIN to the moment from which the new thread TID belongs to the
 * profile: its beginning, or its registration. Its CPU clock reads CLOCK.
 * Returns whether that moment is known. */
static bool
find_beginning(pid_t tid, uint64_t clock, uint64_t now,
               struct registry_moment *begin)
{
    struct registry_moment found = {.time = now - clock};
    if (settings_registered_only(settings) &&
        (!registry_find(tid, &found) || found.time < started_at ||
         found.clock > clock))
        return false;
    *begin = found;
    return true;
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
    /* CPU time from before the profiler began is not shown. */
    struct registry_moment begin = {.time = now, .clock = clock};
    bool is_whole =
        !existed && find_beginning(tid, clock, now, &begin) && begin.clock == 0;
    if (is_early())
        open_early(index, clock, now);
    else
        thread_time_open(index, begin.clock, begin.time,
                         has_started ? trigger_of_thread(tid) : TRIGGER_NONE);
    if (existed)
        trigger_prepare(tid);
    if (!is_whole && !is_early())
        skip_queue(index);
}

/* Write the record of short threads of AGE ns and more. Returns its place. */
static uint64_t
begin_unseen(uint64_t age)
{
    uint64_t now = journal_time(clock_now());
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, (struct journal_place){0}, now, now);
    sample.thread = SHORT_THREADS;
    sample.trigger = TRIGGER_NONE;
    sample.count = 0; /* no point was asked for */
    sample.age = age;
    return journal_append(RECORD_SAMPLE, &sample, sizeof(sample), NULL, 0);
}

/* Write the CPU time so far of short threads from AGE ns to the next age. I is
 * the index of the age. */
static void
write_unseen(unsigned i, uint64_t age)
{
    const size_t wall = offsetof(struct record_sample, wall);
    const uint64_t both[] = {unseen[i], unseen[i]}; /* wall, and cpu after it */
    if (generation != journal_generation())
        memset(unseen_place, 0, sizeof(unseen_place));
    generation = journal_generation();
    if (i == 0 && unseen_place[0] == 0)
        journal_thread_as(SHORT_THREADS, 0, SHORT_NAME);
    if (unseen_place[i] == 0)
        unseen_place[i] = begin_unseen(age);
    journal_change(unseen_place[i], wall, both, sizeof(both));
}

/* A thread came and went without any sample or look. The CPU time of such
 * threads is kept by their age, in quarters of a period. In a profile, samples
 * of other threads of the same age stand for them. */
static void
note_unseen(uint64_t cpu)
{
    uint64_t step = epoch_period() / 4;
    quiet_explain(cpu);
    rates_unseen(cpu);
    for (unsigned i = 0; i < AGES && cpu > i * step; i++) {
        uint64_t part = cpu - i * step;
        if (part > step && i + 1 < AGES)
            part = step;
        unseen[i] += part;
        write_unseen(i, i * step);
    }
}

/* A thread whose time was never opened has reported its end. If it was part of
 * the profile, it belonged to it from its beginning, or from its
 * registration. */
static void
note_unopened_end(const struct thread_end *end)
{
    struct registry_moment begin;
    if (is_resting || !find_beginning(end->tid, end->cpu, end->time, &begin))
        return;
    registry_remove(end->tid);
    note_unseen(end->cpu - begin.clock);
}

/* Returns the index of the thread of END, or THREADS_NONE if it was never
 * entered and is gone. A thread that is still leaving is entered now: otherwise
 * the list of threads would show it later, and its time would count twice. */
static uint32_t
index_of_end(const struct thread_end *end)
{
    if (threads_indexes()[end->tid] == 0) {
        uint64_t clock = clock_thread(end->tid);
        if (clock == CLOCK_NONE || clock < end->cpu ||
            clock - end->cpu > HARVEST_LEAVING_NS)
            return THREADS_NONE;
    }
    return threads_index(end->tid);
}

/* A thread has reported its end. It may have been looked at after that, because
 * it runs on for a moment. */
static void
note_end(const struct thread_end *end)
{
    uint32_t index = index_of_end(end);
    if (index == THREADS_NONE) {
        note_unopened_end(end);
        return;
    }
    struct thread_time *account = thread_time_of(index);
    if (account->is_ignored && settings_registered_only(settings))
        note_unopened_end(end);
    uint64_t cpu = end->cpu > account->seen ? end->cpu : account->seen;
    if (account->has_ended || cpu - end->cpu > HARVEST_LEAVING_NS)
        return;
    if (!account->is_ignored && end->name[0] != '\0')
        journal_thread_name(index, end->name);
    if (!account->is_ignored)
        observe_end_thread(index, cpu, end->start, end->time, true);
    account->seen = cpu;
    account->has_ended = true;
    account->ended_at = end->time;
}

/* Process the threads that have reported their end. A thread takes no sample
 * after that. Its samples are taken first: later they would belong to an
 * unknown thread, and count time again that its end reports. */
static void
note_ends(void)
{
    struct thread_end end;
    uint64_t reported = thread_ends_reported();
    if (reported == 0 || !harvest_slots())
        return;
    for (; thread_ends_next_end(reported, &end); has_changed = true)
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
    if (!account->has_ended)
        harvest_slots();
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
    has_begun = given->is_child;
    is_resting = !starts_now;
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

void
roster_add_registered(void)
{
    for (pid_t tid = registry_next(); tid != 0; tid = registry_next()) {
        if (clock_thread(tid) == CLOCK_NONE)
            continue;
        uint32_t index = threads_index(tid);
        if (index != THREADS_NONE && thread_time_of(index)->is_ignored)
            add_thread(index);
    }
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
    skip_queue(index);
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
    started_at = now;
    roster_rearm();
    note_early();
}

/* Remove threads that have ended and whose tid now belongs to another thread.
 * Add threads that registered while sampling was off, and are on the list only
 * now. */
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

/* Returns for how many ns the last list stays valid. */
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
        return pause < PAUSE_NS ? pause : PAUSE_NS;
    return pause > PAUSE_NS ? pause : PAUSE_NS;
}

void
roster_update(uint64_t now)
{
    roster_add_registered();
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
        observe_flush(account, i);
        account->trigger = trigger_of_thread(threads_at(i)->tid);
        /* This trigger could not sample the thread until now. */
        account->reached = account->checked = account->seen;
        account->is_reached = false;
        account->ticks_clock = account->seen;
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
    memset(unseen_place, 0, sizeof(unseen_place));
}

void
roster_after_rotate(void)
{
    memset(unseen, 0, sizeof(unseen));
    observe_end_after_rotate();
}

/* Read the names of threads that have run since the last reading: they may have
 * changed. */
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
