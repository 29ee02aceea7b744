/* SPDX-License-Identifier: MIT */
/*
 * sampler.c -- the sampler thread; see sampler.h. While a session is on, it
 * sleeps from instant to instant, and serves threads that park. Otherwise it
 * sleeps until another thread needs it. It never suspends itself, never waits
 * for a target, and takes no lock that the program can hold.
 *
 * The hard thing is that other threads wait for it (fork, exec, exit): every
 * wait, on both sides, has a deadline.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/handler.h"
#include "capture/serve.h"
#include "journal/journal.h"
#include "labels/labels.h"
#include "process/look.h"
#include "process/modules.h"
#include "sampling/alarms.h"
#include "sampling/all_stacks.h"
#include "sampling/counts.h"
#include "sampling/follow_cpu.h"
#include "sampling/marks.h"
#include "sampling/rates.h"
#include "sampling/recorder.h"
#include "sampling/roster.h"
#include "sampling/sampler_thread.h"
#include "sampling/session.h"
#include "sampling/thread_time.h"
#include "sampling/tracee.h"
#include "sampling/trigger/trigger.h"
#include "sampling/wait.h"
#include "unwind/interpreter.h"
#include "unwind/trace_context.h"
#include "begin_anew.h"
#include "credentials.h"
#include "doze.h"
#include "ending_signals.h"
#include "freeze.h"
#include "guardian.h"
#include "requests.h"
#include "sampler.h"

/* Longest wait of a fork for a busy sampler, in ns. The child begins unfinished
 * work anew. */
#define PAUSE_NS 100000000u

/* Age in ns from which on a process is sampled, however little it runs. */
#define DOZE_NS 100000000u

/* Least time in ns between two checks for a stuck signal, and longest sleep of
 * the sampler between two sessions. */
#define WATCH_NS 1000000000u
#define REST_NS 2000000000u

/* Time in ns between two looks at a running helper process. */
#define BUSY_NS 5000000u

static const struct settings *settings;
static const struct sampler_calls *calls;

/* CLOCK_MONOTONIC when sampling is to begin; UINT64_MAX: on request. */
static uint64_t begin_at;

static OF_PROFILE _Atomic uint32_t stop_wanted;
/* Valid once doze_attached was called. */
static OF_PROFILE int trigger_error;
static OF_PROFILE bool is_short_of_memory;

/*
 * After its last sample the sampler offers to run a function. One word is the
 * whole handshake. The sampler moves ABSENT to OFFERED, and OFFERED back to
 * ABSENT when no thread has come. The ending thread moves OFFERED to GIVEN. The
 * sampler moves GIVEN to DONE.
 */
enum offer { OFFER_ABSENT, OFFER_OFFERED, OFFER_GIVEN, OFFER_DONE };

/* Lifetime of the offer, in ns. The thread that ends the process asks at once,
 * but it may lose its CPU before it does. */
#define OFFER_NS 2000000000u

static OF_PROFILE _Atomic uint32_t offer;
static OF_PROFILE void (*offered_function)(void *); /* valid while GIVEN */
static OF_PROFILE void *offered_argument;

/* Wait until the offer is no longer AS, or the time UNTIL. */
static void
wait_while(enum offer as, uint64_t until)
{
    while (atomic_load(&offer) == as && clock_now() < until)
        sys_futex_wait(&offer, as, until);
}

/* Let sampler_run find the sampler. Called before any thread can see that the
 * journal has ended. Context: sampler. */
static void
offer_thread(void)
{
    atomic_store(&offer, OFFER_OFFERED);
}

/* After the offer: wait a moment for a function to run, and run it. Context:
 * sampler. */
static void
serve_offer(void)
{
    uint32_t offered = OFFER_OFFERED;
    wait_while(OFFER_OFFERED, clock_now() + OFFER_NS);
    if (atomic_compare_exchange_strong(&offer, &offered, OFFER_ABSENT) ||
        offered == OFFER_ABSENT)
        return;
    /* A thread came, and waits for this one. */
    offered_function(offered_argument);
    atomic_store(&offer, OFFER_DONE);
    sys_futex_wake(&offer, 1);
}

bool
sampler_run(void (*function)(void *), void *argument, uint64_t ns)
{
    uint32_t offered = OFFER_OFFERED;
    offered_function = function;
    offered_argument = argument;
    if (!atomic_compare_exchange_strong(&offer, &offered, OFFER_GIVEN)) {
        function(argument);
        return true;
    }
    sys_futex_wake(&offer, 1);
    /* The sampler has the function now, and will set DONE. */
    wait_while(OFFER_GIVEN, clock_now() + ns);
    return atomic_load(&offer) == OFFER_DONE;
}

static bool
is_called(void)
{
    return atomic_load_explicit(&stop_wanted, memory_order_relaxed) != 0 ||
           serve_is_held() || trigger_must_leave_trap() || tracee_is_wanted() ||
           credentials_are_wanted() || requests_is_wanted();
}

/* Do what other threads want of the sampler. */
static void
heed(void)
{
    credentials_follow();
    if (trigger_must_leave_trap() && trigger_check_signals(false))
        roster_rearm();
    if (tracee_is_wanted())
        session_check_tracer(clock_now());
    /* It sleeps there until it is needed. */
    if (serve_is_held())
        serve_wait(clock_now());
    requests_heed();
}

/* No session is on: sleep until one is to begin, or another thread needs the
 * sampler. Until the main thread has left (guardian.h), the end of the
 * program's last thread seldom matters. */
static void
rest(void)
{
    bool is_guarded = guardian_is_there();
    uint64_t until = clock_now() + (is_guarded ? ROSTER_NS : REST_NS);
    uint64_t soon = requests_are_busy() ? clock_now() + BUSY_NS : begin_at;
    serve_wait_unless(is_called, until < soon ? until : soon);
    if (is_guarded || clock_now() >= until)
        roster_update(clock_now());
}

static void
begin(void)
{
    begin_at = UINT64_MAX;
    (void)session_start(SESSION_BY_OPTIONS);
}

/* The next instant of a session, unless it is over. */
static void
go_on(void)
{
    recorder_rotate_if_due(!requests_are_busy());
    recorder_begin_again();
    if (journal_error() != 0) {
        session_stop(SESSION_BY_FAULT);
    } else if (clock_now() >= session_end()) {
        session_stop(SESSION_BY_OPTIONS);
    } else {
        session_sleep(is_called);
        if (!is_called())
            session_tick();
        alarms_look();
    }
}

/* See ending_signals_watch. */
static void
watch(void)
{
    static OF_PROFILE uint64_t next;
    uint64_t now = clock_now();
    if (now < next)
        return;
    next = now + WATCH_NS;
    ending_signals_watch();
}

static void
run(void)
{
    while (atomic_load(&stop_wanted) == 0 && !roster_is_alone()) {
        if (session_is_on())
            go_on();
        else if (clock_now() >= begin_at)
            begin();
        else
            rest();
        watch();
        heed();
    }
}

/* Find out whether sampling is possible, and say so. */
static bool
attach(void)
{
    trigger_error = session_attach(settings, begin_at <= clock_now());
    doze_attached();
    return trigger_error == 0;
}

/* A sampler that had no CPU until the end may learn of the end before it has
 * begun. The session has the CPU time of the threads, if nothing else. */
static void
finish(void)
{
    uint32_t reason = atomic_load(&stop_wanted);
    if (clock_now() >= begin_at)
        begin();
    if (freeze_is_early()) {
        session_look_last(freeze_ender());
        freeze_others(true);
    }
    journal_flush();
    recorder_begin_again();
    session_stop(SESSION_BY_END);
    requests_end();
    labels_accept(false);
    counts_end(reason != 0 ? (enum end_reason)(reason - 1) : END_EXIT,
               settings_keeps_all(settings));
}

/* Work that does not wait until the sampler has begun. */
static bool
is_called_early(void)
{
    return atomic_load(&stop_wanted) != 0 || tracee_is_wanted() ||
           requests_is_wanted();
}

static bool
equip(void)
{
    uint32_t depth = (uint32_t)settings->options->max_depth.number;
    interpreter_begin(settings->options->python.number != 0,
                      (uint64_t)pthread_self());
    trace_context_begin();
    return modules_begin(session_on_module) == 0 &&
           thread_time_begin(settings) == 0 &&
           handler_begin_memory(depth, settings->period) == 0 &&
           wait_begin(depth) == 0 && all_stacks_begin(depth) == 0;
}

/* All costly work, when it is clear that there is something to see. */
static bool
wake_up(bool has_own_files)
{
    follow_cpu_begin();
    is_short_of_memory = !equip();
    return !is_short_of_memory && calls->open(has_own_files) == 0 && attach();
}

/* Sample until the process ends. */
static void
work(bool has_own_files)
{
    if (wake_up(has_own_files)) {
        run();
        finish();
        return;
    }
    marks_accept(false);
    journal_forget();
    doze_attached();
}

static void *
sampler_main(void *unused)
{
    (void)unused;
    bool has_own_files = sampler_thread_settle(settings->period);
    requests_unblock_signal();
    bool has_begun = doze_sleep(is_called_early, credentials_follow);
    if (has_begun)
        work(has_own_files);
    bool has_work = has_begun && atomic_load(&stop_wanted) != 0;
    if (has_work)
        offer_thread();
    sampler_thread_leave();
    if (has_work)
        serve_offer();
    else if (roster_is_alone())
        calls->on_alone(roster_total() <= 1);
    return NULL;
}

/* A child of a fork is sampled at once if its parent is (GOES_ON), else at the
 * set time. */
static void
plan(bool goes_on)
{
    const struct options *options = settings->options;
    uint64_t start = settings->start, duration = options->duration.number;
    if (!settings->is_child)
        begin_at = options->start.number == 0 ? UINT64_MAX
                                              : start + options->delay.number;
    else if (goes_on)
        begin_at = start;
    session_announce(begin_at <= clock_now());
    uint64_t until =
        start + (duration != 0 && duration < DOZE_NS ? duration : DOZE_NS);
    doze_begin(begin_at < until && begin_at > start ? begin_at : until,
               settings->is_child);
}

int
sampler_prepare(const struct settings *given,
                const struct sampler_calls *given_calls)
{
    bool goes_on = given->is_child && session_is_on();
    settings = given;
    calls = given_calls;
    state_renew_profile();
    plan(goes_on);
    if (begin_anew(settings) != 0)
        return -1;
    /* The program's first marks may come before the sampler has begun. */
    if (begin_at <= clock_now())
        marks_accept(true);
    return 0;
}

int
sampler_launch(void)
{
    /* A failure without a message means that memory is short. */
    errno = ENOMEM;
    return sampler_thread_start(sampler_main);
}

bool
sampler_cancel(bool is_left)
{
    if (!doze_end())
        return false;
    if (is_left && sampler_thread_is_launched()) {
        ask_ring();
        (void)sampler_thread_wait(options_exit_ns(settings->options));
    }
    return true;
}

/* Set *RESULT to what the sampler has counted. Fields that only its thread
 * knows stay 0 or false. */
static void
collect_result(struct sampler_result *result)
{
    const struct journal_sums *sums = thread_time_sums();
    const struct session_past *past = session_past();
    *result =
        (struct sampler_result){.is_blind = look_is_blind(),
                                .is_displaced = past->was_displaced,
                                .is_traced = past->was_traced,
                                .taken = sums->counts.taken + sums->measured +
                                         sums->counts.peeked + sums->unsampled,
                                .ran = sums->counts.taken,
                                .asked = sums->counts.asked,
                                .threads = roster_total(),
                                .cpu = sums->counts.sampler_cpu,
                                .error = journal_error(),
                                .recorder_error = recorder_error(),
                                .cut = recorder_lost(),
                                .elapsed = past->elapsed};
    for (unsigned i = 0; i < LOSS_COUNT; i++) {
        result->lost_by[i] = sums->lost[i];
        result->lost += sums->lost[i];
    }
    rates_sum(sums, &result->rate);
}

int
sampler_stop(enum end_reason reason, uint64_t ns, struct sampler_result *result)
{
    uint32_t none = 0;
    atomic_compare_exchange_strong(&stop_wanted, &none, (uint32_t)reason + 1);
    sampler_thread_give_up();
    serve_end_holds();
    ask_ring();
    /* A handler of the program may run on our thread: libc's setuid(2) aborts
     * on a thread that cannot do the same as the others. */
    bool is_itself = sampler_thread_is_caller() && !sampler_thread_has_left();
    if (is_itself || !sampler_thread_wait(ns))
        return -1;
    collect_result(result);
    result->wanted = NS_PER_SECOND / settings->period;
    result->keep = settings->options->keep.number;
    result->trigger_error = trigger_error;
    result->is_short_of_memory = is_short_of_memory;
    return 0;
}

void
sampler_pause(void)
{
    bool is_there = sampler_thread_is_launched() && !sampler_thread_has_left();
    if (!doze_hold())
        serve_hold(is_there ? clock_now() + PAUSE_NS : 0);
}

void
sampler_resume(void)
{
    if (doze_is_on())
        doze_release();
    else
        serve_release();
}
