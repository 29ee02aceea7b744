/* SPDX-License-Identifier: MIT */
/*
 * session.c -- see session.h. A tick harvests the samples that threads took of
 * themselves, and looks at the threads (observe.h). It asks the threads without
 * a trigger of their own.
 *
 * The hard thing is to show exactly what lies between a start and a stop. Each
 * thread's clocks are read at the start and again at the stop. A rest of less
 * than a period goes into the next session.
 */
#include <stdatomic.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/scheduling.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/serve.h"
#include "journal/journal.h"
#include "journal/journal_live.h"
#include "journal/stack_tree.h"
#include "process/modules.h"
#include "process/threads.h"
#include "process/unloads.h"
#include "sampling/trigger/trigger.h"
#include "unwind/code_rows.h"
#include "unwind/interpreter.h"
#include "unwind/learn.h"
#include "unwind/resume.h"
#include "unwind/rules.h"
#include "unwind/trace_context.h"
#include "unwind/untabled.h"
#include "afford.h"
#include "budget.h"
#include "counts.h"
#include "follow_cpu.h"
#include "go_program.h"
#include "epoch.h"
#include "harvest.h"
#include "marks.h"
#include "observe.h"
#include "pace.h"
#include "patience.h"
#include "rates.h"
#include "roster.h"
#include "thread_time.h"
#include "tracee.h"
#include "session.h"

/* NAMES_NS: least ns between two readings of names and other rare work.
 * NAMES_MOST: most threads whose names are read then. POLL_NS: ns between two
 * harvests while the sampler waits for answers. */
#define NAMES_NS 1000000000u
#define NAMES_MOST 1000u
#define POLL_NS 50000u

/* Longest time in ns for which a stop waits for the answers of asked
 * threads. */
#define QUIET_NS 20000000u

/* Longest time in ns between two ticks. BUSY_NS: all threads run all the time.
 * IDLE_NS: none runs. PARTLY_NS: some wait now and then, a tracer is there,
 * rules for stacks are missing, or the program's end is not seen, as Go's. Each
 * time is at most GROWTH times the one before. */
#define BUSY_NS 128000000u
#define PARTLY_NS 16000000u
#define IDLE_NS 32000000u
#define GROWTH 4u
/* While threads run all the time, or none runs, a tick comes at the latest
 * after 1 / STEADY_PART of that time. So what follows a long wait is not
 * missed. */
#define STEADY_PART 8u
/* The same when no thread runs and the sampler asks: then only a look finds a
 * thread that begins to run. */
#define IDLE_ASK_NS 16000000u
/* Time in ns for which ticks stay at PARTLY_NS after the labels of a waiting
 * thread have changed. Only labels show its next wait, too. */
#define RELABELLED_NS 250000000u
/* If more than 1 / MISSED_PART of the samples lack a rule, the sampler learns
 * rules soon. */
#define MISSED_PART 32u
/* Shortest period, in ns, at which the sampler is patient. */
#define PATIENT_PERIOD_NS 500000u
/* The same when threads run for a part of the time, and wait at the same places
 * as before. */
#define SAME_NS 64000000u
/* ns without a running thread after which the time to the next tick may
 * double. */
#define STILL_NS 1000000000u

/* Time in ns after an unload in which the sampler finishes stacks at once. The
 * pause after it is this many times as long as that took. */
#define UNLOADS_NS 1000000000u
#define HURRY_SHARE 20u

/* Least ns between two writes: faster ticks write together. */
#define WRITE_NS 1000000u

/* Greatest thrift while some threads were not looked at yet. */
#define THRIFT_NEW 4u

static const struct settings *settings;
static OF_PROFILE struct pace pace;
static OF_PROFILE struct budget budget;
static OF_PROFILE struct patience patience;
static OF_PROFILE uint64_t last_names, last_written;
static OF_PROFILE uint32_t name_cursor; /* the next thread whose name is read */
static OF_PROFILE uint64_t last_run;  /* the last tick that saw a thread run */
static OF_PROFILE uint64_t last_wait; /* the last tick that saw one wait */
static OF_PROFILE uint64_t relabelled_at; /* the last with new labels */
static OF_PROFILE uint32_t stride; /* periods that the next tick stands for */
static OF_PROFILE uint32_t ring_every;
/* The last unload, and when it was noticed. */
static OF_PROFILE uint32_t last_unload;
static OF_PROFILE uint64_t unloaded_at;
/* The last tick looked at threads for the first time. */
static OF_PROFILE bool has_news;
/* Samples without a rule, and all samples, up to the last tick. */
static OF_PROFILE uint64_t missed, taken;
/* The trigger is ready, and no time has passed. */
static OF_PROFILE bool is_attached;
static OF_PROFILE uint64_t started; /* ns */
static OF_PROFILE struct session_past past;
static OF_PROFILE bool is_told; /* of the present tracer */
static OF_PROFILE _Atomic bool is_on;
/* A session begins as soon as the sampler runs. */
static OF_PROFILE _Atomic bool is_due;

void
session_on_module(const struct module *module, bool gone)
{
    rules_forget(module->start, module->end);
    code_rows_forget(module->start, module->end);
    interpreter_module(module, gone);
    trace_context_module(module, gone);
    if (gone)
        stack_tree_module_gone(module);
    else
        stack_tree_module_came();
}

/* Look again at interpreters, and say which ones are not known. */
static void
settle_interpreters(void)
{
    struct interpreter_refused refused;
    char words[64];
    struct text text;
    interpreter_settle();
    if (!interpreter_was_refused(&refused))
        return;
    text_begin(&text, words, sizeof(words));
    text_add(&text, ": its ");
    text_add(&text, refused.language);
    text_add(&text, " functions are not shown: version ");
    text_add(&text, refused.minor != 0 ? "3." : "not known");
    if (refused.minor != 0)
        text_add_number(&text, refused.minor);
    note(NOTE_INFO, refused.path, words, NULL);
}

/* For a while after each unload, finish at once the stacks that are left to the
 * sampler: their modules may soon be unloaded, too. START: when the last finish
 * began. The pause after it is a multiple of its duration. */
static void
hurry_after_unload(uint64_t start)
{
    uint64_t now = clock_now();
    if (last_unload != 0 && unloads_last() != last_unload)
        unloaded_at = now;
    last_unload = unloads_last();
    serve_hurry_from(
        now - unloaded_at < UNLOADS_NS ? now + HURRY_SHARE * (now - start) : 0);
}

/* Finish the stacks that have rung the bell. */
static void
finish_hurried(void)
{
    uint64_t start = clock_now();
    if (!serve_is_hurried())
        return;
    if (!modules_are_current())
        harvest_refresh_modules();
    harvest_slots();
    hurry_after_unload(start);
}

void
session_harvest(void)
{
    marks_write();
    harvest_begin_round(ring_every, pace_random(&pace, UINT64_MAX));
    uint64_t now = clock_now();
    if (serve_is_map_wanted() || resume_is_map_late(now) ||
        (serve_has_samples() && !modules_are_current()))
        harvest_refresh_modules();
    untabled_settle(now);
    settle_interpreters();
    trace_context_settle();
    harvest_slots();
    hurry_after_unload(now);
    learn_ahead();
}

/* Read the names of threads that have run since the last reading. Names of very
 * many threads are not read all at once. */
static void
read_names(uint64_t now)
{
    uint32_t limit = threads_limit(), left = NAMES_MOST;
    last_names = now;
    for (uint32_t i = 0; i < limit && left > 0; i++) {
        uint32_t index = name_cursor++ % limit;
        struct thread_time *account = thread_time_of(index);
        if (threads_at(index)->tid == 0 || !account->has_run)
            continue;
        account->has_run = account->is_active;
        journal_follow_name(index);
        left--;
    }
}

/* Returns how many periods NS are, at least 1. */
static uint32_t
periods_of(uint64_t ns)
{
    return ns > settings->period ? (uint32_t)(ns / settings->period) : 1;
}

/* Returns how many periods the next tick stands for: at most MOST ns, if what
 * threads do is the same for STEADY ns. */
static uint32_t
steady_periods(uint64_t steady, uint64_t most)
{
    steady /= STEADY_PART;
    return periods_of(steady < most ? steady : most);
}

/* Whether many of the samples since the last tick lacked a rule. */
static bool
misses_often(void)
{
    const struct journal_sums *sums = thread_time_sums();
    uint64_t more = sums->missed - missed, of = sums->counts.taken - taken;
    missed = sums->missed;
    taken = sums->counts.taken;
    return more * MISSED_PART > of;
}

/* Choose when the next tick comes. Threads that run for a part of the time, or
 * must be asked, are to be seen in every period. If all threads run all the
 * time, or none runs, fewer ticks are enough. */
static void
choose_stride(const struct observe_view *view, uint64_t now)
{
    bool asks = trigger_is_ask();
    uint32_t least = budget_note(&budget, now, view->own, view->process,
                                 view->asked + view->first_looks != 0);
    uint32_t most = 1;
    if (view->relabelled)
        relabelled_at = now;
    bool has_missed = misses_often();
    /* Ticks separate the CPU time under a tracer from the rest. */
    bool is_calm =
        !has_missed && !is_told && now - relabelled_at > RELABELLED_NS;
    bool is_needed = scheduling_was_hurried() || has_missed;
    scheduling_be_patient(
        patience_choose(&patience, now, view->waits || !view->ran, is_needed) &&
        !asks && settings->period >= PATIENT_PERIOD_NS);
    if (view->ran)
        last_run = now;
    if (!view->ran || view->changes)
        last_wait = now;
    if (view->ran && !view->changes && !asks)
        most = steady_periods(now - last_wait,
                              is_calm && !view->waits && !go_program_is_this()
                                  ? BUSY_NS
                                  : PARTLY_NS);
    else if (view->ran && view->first_looks == 0 && !asks)
        most = steady_periods(view->same * settings->period,
                              is_calm ? SAME_NS : PARTLY_NS);
    else if (!view->ran)
        most =
            steady_periods(now - last_run, (asks ? IDLE_ASK_NS : IDLE_NS)
                                               << (now - last_run > STILL_NS));
    stride = stride * GROWTH < most ? stride * GROWTH : most;
    if (view->first_looks != 0 && least > THRIFT_NEW)
        least = THRIFT_NEW;
    /* A question is asked at a tick, where that finds a thread running. */
    uint32_t asking = periods_of(epoch_period() / 2);
    if (asks && view->ran && least > asking)
        least = asking;
    rates_spare(least > 1);
    if (stride < least) {
        thread_time_sums()->counts.skipped += least - stride;
        stride = least;
    }
    /* While ticks are rare because no thread runs, the first sample rings the
     * bell. */
    ring_every = !view->ran && stride > 1 ? 1 : serve_waiting_most();
}

/* Returns the thrift of the next tick. First looks are not delayed for long. */
static uint32_t
next_thrift(void)
{
    return has_news && budget.stride > THRIFT_NEW ? THRIFT_NEW : budget.stride;
}

/* Write a mark when a tracer comes: once for each time. */
static void
mark_tracer(uint64_t now)
{
    bool is_traced = session_is_on() && tracee_is_foreign();
    if (is_traced && !is_told)
        journal_live_mark(MARK_USER, MARK_TRACED, now);
    is_told = is_traced;
    past.was_traced |= is_traced;
}

void
session_check_tracer(uint64_t now)
{
    if (session_is_on() && trigger_check_tracer(now))
        roster_rearm();
    /* While nothing is sampled, no signals are sent, and the look alone is
     * enough. */
    if (!session_is_on())
        (void)tracee_look(now);
    tracee_confirm();
    mark_tracer(now);
}

/* Write to the file what was sampled: a killed process loses only what came
 * since the last tick, or in WRITE_NS. No counter is in the file before what it
 * counts. */
static void
write_out(uint64_t now)
{
    if (now - last_written < WRITE_NS && stride * settings->period < WRITE_NS)
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
    struct observe_view view;
    session_harvest();
    follow_cpu_move(random);
    roster_update(now);
    bool is_time = now - last_names > NAMES_NS;
    if (is_time) {
        read_names(now);
        journal_heed_removal();
        serve_reclaim(now);
    }
    session_check_tracer(now);
    if (trigger_check_signals(is_time) || trigger_check_switches(now))
        roster_rearm();
    observe_threads(now, random >> 8, next_thrift(), &view);
    has_news = view.first_looks != 0;
    trigger_vary(now, roster_has_new(), random);
    choose_stride(&view, now);
    if (afford_tick(now, budget.own, view.ran && !view.changes, random))
        roster_rearm();
    thread_time_sums()->counts.ticks++;
    write_out(now);
    serve_ring_every(ring_every);
}

/* Wait until the threads that were asked have answered, or their time is
 * over. */
static void
wait_for_answers(void)
{
    uint64_t start = clock_now(), until = start + QUIET_NS;
    session_harvest();
    while (harvest_is_waiting(start - QUIET_NS) && clock_now() < until) {
        serve_wait(clock_now() + POLL_NS);
        session_harvest();
    }
}

/* If the sampler was held, draw the next look from now on. A look at once would
 * always find the thread that released it at the same place. */
static bool
shift_if_held(void)
{
    bool was_held = serve_was_held();
    if (was_held)
        pace_shift(&pace, clock_now());
    return was_held;
}

/* Returns when the next look is due: at an instant drawn at random, but no
 * later than the session's end. */
static uint64_t
next_instant(void)
{
    uint64_t at = pace_next(&pace, clock_now(), stride), end = session_end();
    return at < end ? at : end;
}

/* If samples ring the bell before the instant, they are harvested. Then the
 * sampler looks for a tracer, because a tracer sees a stop for each sample. A
 * program that seemed idle is looked at soon. In a busy program the instant
 * stays: a look right after a sample would not be one at random. */
void
session_sleep(bool (*is_called)(void))
{
    (void)shift_if_held();
    uint64_t at = next_instant();
    while (clock_now() < at && !is_called()) {
        serve_wait_unless(is_called, at);
        uint64_t now = clock_now();
        if (shift_if_held())
            at = next_instant();
        else if (now >= at)
            patience_note(&patience, now - at);
        marks_write();
        roster_add_registered();
        if (serve_is_map_wanted())
            harvest_refresh_modules();
        finish_hurried();
        learn_ahead();
        if (!serve_is_due())
            continue;
        bool seemed_idle = ring_every == 1;
        session_harvest();
        session_check_tracer(clock_now());
        if (!seemed_idle)
            continue;
        pace_hurry(&pace, clock_now());
        stride = 1;
        at = next_instant();
    }
}

/* A tick is made, because on a busy machine the last look may be long ago. */
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

void
session_look_last(pid_t ender)
{
    if (!session_is_on())
        return;
    session_harvest();
    observe_last(ender);
}

int
session_attach(const struct settings *given, bool starts_now)
{
    settings = given;
    roster_begin(settings, starts_now);
    int error = trigger_begin(settings);
    is_attached = error == 0 && starts_now;
    if (error == 0)
        roster_prepare();
    else
        atomic_store(&is_due, false);
    if (!is_attached)
        trigger_stop();
    return error;
}

/* Returns the words of MARK for BY. */
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

/* Begin the instants anew, at random: otherwise a program that starts and stops
 * at fixed points would always be looked at after the same time. */
static void
begin_pace(uint64_t now)
{
    uint64_t seed = now;
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    pace_begin(&pace, now, settings->period, seed);
    patience_begin(&patience, now);
    last_run = now;
    stride = 1;
    ring_every = serve_waiting_most();
}

int
session_start(enum session_by by)
{
    bool is_late = !is_attached;
    if (session_is_on())
        return 0;
    if (is_late) {
        int error = trigger_begin(settings);
        if (error != 0)
            return error;
        roster_prepare();
    }
    is_attached = false;
    /* A thread with a large stack may be the first to need the map. */
    if (!modules_are_current())
        harvest_refresh_modules();
    trigger_enable();
    uint64_t now = clock_now();
    started = is_late || settings->since == 0 ? now : settings->since;
    begin_pace(now);
    roster_start(now, is_late);
    budget_begin(&budget, settings->options->budget.number,
                 settings->options->cost.number, now, clock_own(),
                 clock_process());
    afford_start(budget.own);
    observe_begin();
    marks_accept(true);
    atomic_store(&is_on, true);
    atomic_store(&is_due, false);
    journal_live_mark(MARK_START, words_of(by), started);
    journal_state(CONTROL_SAMPLING, started);
    return 0;
}

void
session_stop(enum session_by by)
{
    if (!session_is_on())
        return;
    atomic_store(&is_on, false);
    marks_accept(false);
    trigger_stop();
    scheduling_be_patient(false);
    wait_for_answers();
    harvest_give_up(LOSS_SILENT);
    /* A jitdump may have been mapped since the map was read. */
    if (stack_tree_has_bare())
        harvest_refresh_modules();
    uint64_t now = clock_now();
    roster_end(now);
    afford_publish();
    counts_publish(now, true);
    past.elapsed += now - started;
    past.was_displaced |= trigger_was_displaced();
    journal_live_mark(MARK_STOP, words_of(by), now);
    journal_state(journal_error() == 0 ? CONTROL_STOPPED : CONTROL_OVER, now);
}

bool
session_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

void
session_announce(bool is_near)
{
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
    return settings->options->duration.number != 0
               ? started + settings->options->duration.number
               : UINT64_MAX;
}

uint64_t
session_sampled(uint64_t now)
{
    return past.elapsed + (session_is_on() ? now - started : 0);
}

const struct session_past *
session_past(void)
{
    return &past;
}
