/* SPDX-License-Identifier: MIT */
/*
 * roll.c -- see roll.h. A thread ends twice: by its own account
 * (thread_life.h), with its exact CPU time, and when the kernel lists it no
 * more. Its entry stays until the second, because the kernel still lists it
 * after the first; unless its tid is given to another thread before, which is
 * known by the CPU clock going back.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/suspend.h"
#include "target/threads.h"
#include "account.h"
#include "cpu_timer.h"
#include "harvest.h"
#include "journal.h"
#include "journal_unseen.h"
#include "points.h"
#include "points_end.h"
#include "rates.h"
#include "registry.h"
#include "roll.h"
#include "thread_life.h"
#include "trigger.h"
#include "unsampled.h"

/* Reading the list may take such a share of the time: 1/50 if threads were made
 * or have ended, 1/1000 if not. But the process lives until its last thread is
 * seen to be gone: when one may have ended, no pause is longer than a second.
 */
#define SHARE_STALE 50u
#define SHARE_QUIET 1000u
#define PAUSE_MAX_NS 1000000000u

/* So many threads make the reading of the process's CPU clock dear. */
#define MANY_THREADS 32u

static struct roll_options options;
static uint64_t last_call;
static uint64_t call_cost; /* CPU time: being preempted says nothing of it */
static uint64_t unseen[JOURNAL_UNSEEN_AGES]; /* ns of CPU time */
static uint32_t total;
static bool has_begun, has_started, is_resting, is_alone, has_new, keeps_clock;
static bool has_entered; /* those that were there at first */
/* Since the list was read a thread has told its end, or another number of
 * threads was found, which was last asked for at LAST_COUNT. */
static bool has_changed;
static uint64_t last_count;

static bool
is_wanted(pid_t tid)
{
    return !options.registered_only || registry_has(tid);
}

/* It is in the profile: once, however often sampling begins. */
static void
count(struct account *account)
{
    total += !account->past.is_counted;
    account->past.is_counted = true;
    has_new = true;
}

/* Whether a thread that is entered now has lived while the sampler had not
 * begun. */
static bool
is_early(void)
{
    return !has_entered && !is_resting && options.since != 0;
}

/* Its CPU clock reads CLOCK, and there is no sample of it yet: its CPU time is
 * told as such, and where it waits since it ran is found out by the first look.
 * When another than the first began is not known; of its CPU time all is ours.
 */
static void
open_early(uint32_t index, uint64_t clock, uint64_t now)
{
    bool is_first = threads_at(index)->tid == options.pid;
    uint64_t base = is_first ? options.base : 0;
    uint64_t before = is_first ? options.clock : 0;
    uint64_t since = is_first ? options.since : now - clock;
    if (since < options.since || clock < before)
        since = options.since;
    account_open(index, clock, since, TRIGGER_NONE);
    struct account *account = account_of(index);
    account->base = base < clock ? base : clock;
    account->rest = clock > before ? -(int64_t)(clock - before) : 0;
    account->rated = account->base;
    unsampled_early(index, clock - account->base, since, now);
}

static void
add(uint32_t index)
{
    pid_t tid = threads_at(index)->tid;
    uint64_t clock = clock_thread(tid), now = clock_now();
    bool existed = !has_begun;
    suspend_set_stack(index, 0, 0, 0);
    account_forget(index);
    if (is_resting || !is_wanted(tid)) {
        account_ignore(index);
        return;
    }
    count(account_of(index));
    if (clock == CLOCK_NONE)
        clock = 0;
    /* What a thread used before we were there is not ours to show. */
    bool is_ours = options.is_child || (!existed && !options.registered_only);
    uint64_t lived = is_ours ? clock : 0;
    if (is_early())
        open_early(index, clock, now);
    else
        account_open(index, is_ours ? 0 : clock, now - lived,
                     has_started ? trigger_of_thread(tid) : TRIGGER_NONE);
    if (existed)
        trigger_prepare(tid);
}

/* A thread came and went, and no sample or look met it. How much CPU time such
 * threads used is kept by their age, in quarters of a period: in a profile
 * their place is taken by the samples of others that were as young. */
static void
note_unseen(uint64_t cpu)
{
    uint64_t step = account_period() / 4;
    points_explain(cpu);
    rates_unseen(cpu);
    for (unsigned i = 0; i < JOURNAL_UNSEEN_AGES && cpu > i * step; i++) {
        uint64_t part = cpu - i * step;
        if (part > step && i + 1 < JOURNAL_UNSEEN_AGES)
            part = step;
        unseen[i] += part;
        journal_unseen_add(i, i * step, unseen[i]);
    }
}

/* The thread says itself that it has ended. It may have been looked at after
 * that, as it goes on for a moment. */
static void
note_end(const struct thread_end *end)
{
    uint32_t index = threads_indexes()[end->tid];
    if (index == 0) {
        if (!options.registered_only && !is_resting)
            note_unseen(end->cpu);
        return;
    }
    struct account *account = account_of(index - 1);
    uint64_t cpu = end->cpu > account->seen ? end->cpu : account->seen;
    if (account->has_ended || cpu - end->cpu > HARVEST_LEAVING_NS)
        return;
    if (!account->is_ignored && end->name[0] != '\0')
        journal_thread_name(index - 1, end->name);
    if (!account->is_ignored)
        points_end_thread(index - 1, cpu, end->start, end->time, true);
    account->seen = cpu;
    account->has_ended = true;
    account->ended_at = end->time;
}

static void
note_ends(void)
{
    struct thread_end end;
    for (; thread_life_next_end(&end); has_changed = true)
        note_end(&end);
}

static void
on_thread(uint32_t index, bool gone)
{
    struct account *account = account_of(index);
    if (!gone) {
        add(index);
        return;
    }
    registry_remove(threads_at(index)->tid);
    if (account->is_ignored)
        return;
    /* It may have told its end since that was last asked for. */
    note_ends();
    harvest_thread_gone(index);
    cpu_timer_drop(threads_at(index)->tid);
    if (!account->has_ended)
        points_end_thread(index, account->seen, account->known_from,
                          account->seen_at, false);
    account_deactivate(index);
}

void
roll_begin(const struct roll_options *given)
{
    options = *given;
    last_call = last_count = call_cost = 0;
    memset(unseen, 0, sizeof(unseen));
    total = 0;
    has_begun = given->is_child;
    has_started = is_alone = has_new = keeps_clock = has_changed = false;
    is_resting = !given->starts_now;
    has_entered = false;
    thread_life_reset();
    threads_begin(given->pid, sys_gettid(), on_thread, given->has_own_files);
}

void
roll_prepare(void)
{
    threads_refresh();
    for (uint32_t i = 0; is_resting && i < threads_limit(); i++)
        if (threads_at(i)->tid != 0)
            trigger_prepare(threads_at(i)->tid);
    has_begun = has_entered = true;
}

/* Go on with the thread of INDEX, unless its tid was given to another since, or
 * it is not to be profiled. */
static void
reopen(uint32_t index, uint64_t now)
{
    pid_t tid = threads_at(index)->tid;
    uint64_t clock = clock_thread(tid);
    if (clock == CLOCK_NONE || !is_wanted(tid))
        return;
    if (clock < account_of(index)->seen) {
        threads_remove(index);
        index = threads_index(tid);
        if (index == THREADS_NONE)
            return;
    }
    count(account_of(index));
    account_open(index, clock, now, TRIGGER_NONE);
}

/* Their triggers are ready from now on. */
static void
note_early(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        pid_t tid = threads_at(i)->tid;
        uint64_t clock = tid != 0 && !account_of(i)->is_ignored
                             ? clock_thread(tid)
                             : CLOCK_NONE;
        if (clock != CLOCK_NONE)
            rates_start(account_of(i), clock);
    }
}

void
roll_start(uint64_t now, bool is_late)
{
    roll_call(now);
    for (uint32_t i = 0; is_late && i < threads_limit(); i++)
        if (threads_at(i)->tid != 0)
            reopen(i, now);
    has_started = true;
    is_resting = false;
    roll_rearm();
    note_early();
}

/* Remove those that have ended, if their tid is another thread's by now, and
 * take in those that have registered. */
static void
settle_entries(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        const struct account *account = account_of(i);
        pid_t tid = threads_at(i)->tid;
        if (tid == 0)
            continue;
        if (account->has_ended && clock_thread(tid) < account->seen)
            threads_remove(i);
        else if (account->is_ignored && !is_resting && is_wanted(tid))
            add(i);
    }
}

/* How long the list that was last read is good, in ns. */
static uint64_t
list_pause(uint64_t now)
{
    if (now - last_count >= ROLL_NS) {
        last_count = now;
        has_changed = has_changed || threads_count_differs();
    }
    bool is_stale = threads_are_stale() || has_changed;
    uint64_t pause = call_cost * (is_stale ? SHARE_STALE : SHARE_QUIET);
    if (is_stale)
        return pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
    return pause > ROLL_NS ? pause : ROLL_NS;
}

void
roll_call(uint64_t now)
{
    note_ends();
    if (now - last_call < list_pause(now))
        return;
    uint64_t before = clock_own();
    has_changed = false;
    settle_entries();
    if (threads_refresh() == 0)
        is_alone = true;
    if (!keeps_clock && threads_count() > MANY_THREADS) {
        keeps_clock = true;
        cpu_timer_keep_process_clock(sys_gettid());
    }
    last_call = clock_now();
    call_cost = clock_own() - before;
}

void
roll_rearm(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        struct account *account = account_of(i);
        if (threads_at(i)->tid == 0 || account->is_ignored)
            continue;
        unsampled_flush(account, i);
        account->trigger = trigger_of_thread(threads_at(i)->tid);
        /* What it ran until now is not for this trigger to have seen. */
        account->given = account->ticks_clock = account->seen;
        account->ticks = 0;
    }
}

bool
roll_has_new(void)
{
    bool had = has_new;
    has_new = false;
    return had;
}

bool
roll_is_alone(void)
{
    return is_alone;
}

uint32_t
roll_total(void)
{
    return total;
}

void
roll_turn(uint64_t now)
{
    note_ends();
    points_end_file(now);
}

void
roll_go_on(void)
{
    memset(unseen, 0, sizeof(unseen));
    points_end_file_next();
}

/* Those that have run since they were last asked may have another one. */
static void
follow_names(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 && account_of(i)->has_run &&
            !account_of(i)->has_ended)
            journal_follow_name(i);
}

void
roll_end(uint64_t now)
{
    if (is_resting)
        return;
    note_ends();
    follow_names();
    points_end(now);
    is_resting = true;
    for (uint32_t i = 0; i < threads_limit(); i++) {
        account_deactivate(i);
        if (!account_of(i)->has_ended)
            account_ignore(i);
    }
}
