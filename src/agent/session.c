/* SPDX-License-Identifier: MIT */
/*
 * session.c -- see session.h. A tick harvests the samples that threads took of
 * themselves, looks at the threads (points.h) and asks those that nothing else
 * interrupts.
 *
 * The hard thing is to say exactly what lies between a start and a stop: at the
 * start each thread's clocks are read, and at the stop again, and what is left
 * over by less than a period goes into the next session.
 */
#include <stdatomic.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/learn.h"
#include "capture/rules.h"
#include "capture/suspend.h"
#include "capture/untabled.h"
#include "target/modules.h"
#include "target/threads.h"
#include "account.h"
#include "budget.h"
#include "counts.h"
#include "fatal.h"
#include "harvest.h"
#include "journal.h"
#include "journal_head.h"
#include "journal_live.h"
#include "marks.h"
#include "pace.h"
#include "place.h"
#include "points.h"
#include "rates.h"
#include "roll.h"
#include "session.h"
#include "traced.h"
#include "trigger.h"

#define NAMES_NS 1000000000u
#define NAMES_MOST 1000u
#define POLL_NS 50000u

/* Those who were asked get so long to answer before a fork, exec or exit. */
#define QUIET_NS 20000000u

/* A tick may stand for so long when all threads run all the time, or none. */
#define BUSY_NS 16000000u
#define IDLE_NS 32000000u
/* The sampler asks: then who begins to run is found out by looking. */
#define IDLE_ASK_NS 16000000u
/* After so long without anybody who ran, twice that. */
#define STILL_NS 1000000000u

/* So many samples of threads' own clocks may wait for the harvest. */
#define OWN_MOST 64u

/* Ticks that come faster write their records together. */
#define WRITE_NS 1000000u

/* While there are threads that nobody has looked at. */
#define THRIFT_NEW 4u

static struct session_options options;
static struct pace pace;
static struct budget budget;
static uint64_t last_names, last_written;
static uint32_t name_cursor; /* the next thread whose name is read */
static uint64_t last_run;    /* the tick at which somebody had run */
static uint32_t stride;      /* periods that the next tick stands for */
static uint32_t ring_every;
static bool has_news; /* the last tick looked at threads for the first time */
static bool is_attached; /* the trigger is ready, and no time has passed */
static uint64_t started, elapsed; /* ns */
static bool was_displaced;
static bool was_traced, is_told; /* ever; and now */
static _Atomic bool is_on;
static _Atomic bool is_due; /* it begins as soon as the sampler runs */

void
session_on_module(const struct module *module, bool gone)
{
    rules_forget(module->start, module->end);
    if (gone)
        journal_module_gone(module);
    else
        journal_module_came();
}

/* What was walked under the old map is harvested first, while its addresses
 * still mean what they did. */
void
session_refresh_modules(void)
{
    harvest_slots(true);
    learn_forget_pages();
    rules_forget_nowhere();
    modules_refresh();
}

void
session_harvest(void)
{
    marks_write();
    harvest_begin_round(ring_every, pace_random(&pace, UINT64_MAX));
    if (suspend_has_samples() && !modules_are_settled())
        session_refresh_modules();
    untabled_settle(clock_now());
    harvest_slots(false);
}

/* The names of those that have run since theirs were read, of very many not all
 * at once. */
static void
read_names(uint64_t now)
{
    uint32_t limit = threads_limit(), left = NAMES_MOST;
    last_names = now;
    for (uint32_t i = 0; i < limit && left > 0; i++) {
        uint32_t index = name_cursor++ % limit;
        struct account *account = account_of(index);
        if (threads_at(index)->tid == 0 || !account->has_run)
            continue;
        account->has_run = account->is_active;
        journal_follow_name(index);
        left--;
    }
}

/* How many periods of ns NS are, at least 1. */
static uint32_t
periods_of(uint64_t ns)
{
    return ns > options.period ? (uint32_t)(ns / options.period) : 1;
}

/* When the next tick is to come. Threads that run for a part of the time, or
 * that must be asked, are to be seen in every period; if all run all the time,
 * or none, less will do. */
static void
choose_stride(const struct points_view *view, uint64_t now)
{
    bool asks = trigger_is_ask();
    uint32_t least = budget_note(&budget, now, clock_own(),
                                 view->asked + view->first_looks != 0);
    uint32_t most = 1;
    if (view->ran)
        last_run = now;
    if (view->ran && !view->changes && !asks)
        most = periods_of(BUSY_NS);
    else if (!view->ran)
        most = periods_of(asks ? IDLE_ASK_NS : IDLE_NS)
               << (now - last_run > STILL_NS);
    rates_spare(least > 1);
    stride = stride * 2 < most ? stride * 2 : most;
    if (view->first_looks != 0 && least > THRIFT_NEW)
        least = THRIFT_NEW;
    if (stride < least) {
        account_sums()->counts.skipped += least - stride;
        stride = least;
    }
    /* While ticks are rare because nobody runs, the first sample counts. */
    ring_every = !view->ran && stride > 1 ? 1 : OWN_MOST;
}

/* How sparing the next tick must be. First looks are not put off for long. */
static uint32_t
thrift(void)
{
    return has_news && budget.stride > THRIFT_NEW ? THRIFT_NEW : budget.stride;
}

/* Once for each time. */
static void
tell_tracer(uint64_t now)
{
    bool is_traced = session_is_on() && traced_by_other();
    if (is_traced && !is_told)
        journal_live_mark(MARK_USER, MARK_TRACED, now);
    is_told = is_traced;
    was_traced |= is_traced;
}

void
session_check_tracer(uint64_t now)
{
    if (session_is_on() && trigger_check_tracer(now))
        roll_rearm();
    /* Nothing is sent while nothing is sampled. */
    if (!session_is_on())
        (void)traced_look(now);
    traced_confirm();
    tell_tracer(now);
}

/* Who is killed loses what was sampled since the last tick, or in WRITE_NS: let
 * the file have the rest. No counter is in it before what it counts. */
static void
write_out(uint64_t now)
{
    if (now - last_written < WRITE_NS && stride * options.period < WRITE_NS)
        return;
    last_written = now;
    journal_flush();
    counts_publish(now, false);
    journal_flush();
}

void
session_tick(void)
{
    uint64_t now = clock_now(), random = pace_random(&pace, UINT64_MAX);
    struct points_view view;
    session_harvest();
    place_follow(random);
    roll_call(now);
    bool is_time = now - last_names > NAMES_NS;
    if (is_time) {
        read_names(now);
        journal_heed_removal();
        suspend_reclaim(now);
        fatal_watch();
    }
    session_check_tracer(now);
    if (trigger_check_signals(is_time) || trigger_check_switches(now))
        roll_rearm();
    points_look(now, random >> 8, thrift(), &view);
    has_news = view.first_looks != 0;
    trigger_vary(now, roll_has_new(), random);
    choose_stride(&view, now);
    account_sums()->counts.ticks++;
    write_out(now);
    suspend_ring_every(ring_every);
}

/* Wait until those who were asked have answered, or had their time. */
static void
become_quiet(void)
{
    uint64_t start = clock_now(), until = start + QUIET_NS;
    session_harvest();
    while (harvest_is_waiting(start - QUIET_NS) && clock_now() < until) {
        suspend_wait(clock_now() + POLL_NS);
        session_harvest();
    }
}

/* Let the next look, if the sampler was held, be at a random instant from now
 * on: a look at once would find the thread that let it go always there. */
static bool
shift_if_held(void)
{
    bool was_held = suspend_was_held();
    if (was_held)
        pace_shift(&pace, clock_now());
    return was_held;
}

/* Samples that ring before are harvested, and what seemed idle is looked at
 * soon. */
void
session_sleep(bool (*is_called)(void))
{
    (void)shift_if_held();
    uint64_t at = pace_next(&pace, clock_now(), stride);
    while (clock_now() < at && !is_called()) {
        suspend_wait_unless(is_called, at);
        if (shift_if_held())
            at = pace_next(&pace, clock_now(), stride);
        marks_write();
        if (!suspend_is_due())
            continue;
        session_harvest();
        pace_hurry(&pace, clock_now());
        stride = 1;
        at = pace_next(&pace, clock_now(), stride);
    }
}

/* On a busy machine the last look may be long ago. */
void
session_flush(void)
{
    session_harvest();
    if (!session_is_on())
        return;
    session_tick();
    counts_publish(clock_now(), true);
    journal_flush();
}

/* Make the threads' own clocks ready to interrupt them. */
static int
ready_trigger(void)
{
    struct trigger_options trigger = {.wanted = options.trigger,
                                      .pid = options.pid,
                                      .period = options.period,
                                      .has_own_files = options.has_own_files,
                                      .registered_only =
                                          options.registered_only};
    return trigger_begin(&trigger);
}

int
session_attach(const struct session_options *given, bool starts_now)
{
    options = *given;
    struct roll_options roll = {.pid = options.pid,
                                .is_child = options.is_child,
                                .has_own_files = options.has_own_files,
                                .registered_only = options.registered_only,
                                .starts_now = starts_now,
                                .since = options.since,
                                .clock = options.clock,
                                .base = options.base};
    last_names = elapsed = 0;
    has_news = was_displaced = was_traced = is_told = false;
    atomic_store(&is_on, false);
    roll_begin(&roll);
    int error = ready_trigger();
    is_attached = error == 0 && starts_now;
    if (error == 0)
        roll_prepare();
    else
        atomic_store(&is_due, false);
    if (!is_attached)
        trigger_stop();
    return error;
}

/* Who wanted it, in the words of MARK. */
static const char *
words_of(enum session_by by)
{
    static const char *const words[] = {
        [SESSION_BY_OPTIONS] = "as set",
        [SESSION_BY_PROGRAM] = "by the program",
        [SESSION_BY_COMMAND] = "by command",
        [SESSION_BY_FAULT] = "nothing more can be written",
        [SESSION_BY_END] = "the end",
    };
    return words[by];
}

/* The instants begin anew, at random, so that a program that starts and stops
 * at points of its own is not always looked at after the same time. */
static void
begin_pace(uint64_t now)
{
    uint64_t seed = now;
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    pace_begin(&pace, now, options.period, seed);
    last_run = now;
    stride = 1;
    ring_every = OWN_MOST;
}

int
session_start(enum session_by by)
{
    bool is_late = !is_attached;
    if (session_is_on())
        return 0;
    if (is_late) {
        int error = ready_trigger();
        if (error != 0)
            return error;
        roll_prepare();
    }
    is_attached = false;
    trigger_enable();
    uint64_t now = clock_now();
    started = is_late || options.since == 0 ? now : options.since;
    begin_pace(now);
    roll_start(now, is_late);
    budget_begin(&budget, options.budget, now, clock_own());
    points_begin();
    marks_open();
    atomic_store(&is_on, true);
    atomic_store(&is_due, false);
    journal_live_mark(MARK_START, words_of(by), started);
    journal_head_state(CONTROL_SAMPLING, started);
    return 0;
}

void
session_stop(enum session_by by)
{
    if (!session_is_on())
        return;
    atomic_store(&is_on, false);
    marks_close();
    trigger_stop();
    become_quiet();
    harvest_give_up(LOSS_SILENT);
    uint64_t now = clock_now();
    roll_end(now);
    counts_publish(now, true);
    elapsed += now - started;
    was_displaced |= trigger_was_displaced();
    journal_live_mark(MARK_STOP, words_of(by), now);
    journal_head_state(journal_error() == 0 ? CONTROL_STOPPED : CONTROL_OVER,
                       now);
}

bool
session_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

void
session_announce(bool is_near)
{
    atomic_store(&is_on, false);
    atomic_store(&is_due, is_near);
}

bool
session_is_announced(void)
{
    return session_is_on() || atomic_load(&is_due);
}

uint64_t
session_end(void)
{
    return options.duration != 0 ? started + options.duration : UINT64_MAX;
}

uint64_t
session_sampled(uint64_t now)
{
    return elapsed + (session_is_on() ? now - started : 0);
}

uint64_t
session_elapsed(void)
{
    return elapsed;
}

bool
session_was_displaced(void)
{
    return was_displaced;
}

bool
session_was_traced(void)
{
    return was_traced;
}
