/* SPDX-License-Identifier: MIT */
/*
 * sampler.c -- the sampler thread; see sampler.h. It sleeps until the next
 * instant, serving those who park; at the instant it harvests the samples that
 * threads took of themselves, looks at the threads (points.h) and asks those
 * that nothing else interrupts. It never suspends itself, never waits for a
 * target, and takes no lock that the program can hold.
 *
 * The hard thing is that others wait for it (fork, exec, exit): every wait, on
 * both sides, has a deadline.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/learn.h"
#include "capture/rules.h"
#include "capture/suspend.h"
#include "target/look.h"
#include "target/modules.h"
#include "target/threads.h"
#include "account.h"
#include "budget.h"
#include "counts.h"
#include "credentials.h"
#include "cpu_timer.h"
#include "errand.h"
#include "fatal.h"
#include "harvest.h"
#include "journal.h"
#include "own_thread.h"
#include "pace.h"
#include "place.h"
#include "points.h"
#include "real.h"
#include "registry.h"
#include "roll.h"
#include "sampler.h"
#include "thread_life.h"
#include "trigger.h"
#include "wait.h"

#define NAMES_NS 1000000000u
#define POLL_NS 50000u
/* Those who were asked get so long to answer before a fork, exec or exit. */
#define QUIET_NS 20000000u
#define PAUSE_NS 100000000u
/* For the last records, on a machine where all is slow. */
#define STOP_NS 10000000000u
#define ATTACH_NS 50000000u

/* A tick may stand for so long when all threads run all the time, or none. */
#define BUSY_NS 16000000u
#define IDLE_NS 32000000u
/* The sampler asks: then who begins to run is found out by looking. */
#define IDLE_ASK_NS 16000000u

/* So many samples of threads' own clocks may wait for the harvest. */
#define OWN_MOST 64u

/* While there are threads that nobody has looked at. */
#define THRIFT_NEW 4u

static struct sampler_options options;
static struct pace pace;
static struct budget budget;
static uint64_t last_names, first_tick;
static uint32_t stride; /* periods that the next tick stands for */
static uint32_t ring_every;
static pid_t sampler_tid;
static bool is_over;
static bool has_news; /* the last tick looked at threads for the first time */

static _Atomic uint32_t stop_wanted, stopped, pause_wanted, is_quiet, released,
    attached;
static int trigger_error; /* valid once ATTACHED */

static void
on_module(const struct module *module, bool gone)
{
    rules_forget(module->start, module->end);
    if (gone)
        journal_module_gone(module);
}

/* The module map is read anew. What was walked under the old one is harvested
 * first, while its addresses still mean what they did. */
static void
refresh_modules(void)
{
    harvest_slots(true);
    learn_forget_pages();
    rules_forget_nowhere();
    modules_refresh();
}

/* All answers so far, by a module map that is true. */
static void
harvest(void)
{
    harvest_begin_round(ring_every, pace_random(&pace, UINT64_MAX));
    if (suspend_has_samples() && !modules_are_settled())
        refresh_modules();
    harvest_slots(false);
}

/* The names of those that run: to read all, of very many threads, is dear. */
static void
read_names(uint64_t now)
{
    last_names = now;
    for (uint32_t i = 0; i < account_active_count(); i++) {
        uint32_t index = account_active_at(i);
        if (threads_read_name(index))
            journal_thread_name(index);
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
    if (view->ran && !view->changes && !asks)
        most = periods_of(BUSY_NS);
    else if (!view->ran)
        most = periods_of(asks ? IDLE_ASK_NS : IDLE_NS);
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

static void
tick(void)
{
    uint64_t now = clock_now(), random = pace_random(&pace, UINT64_MAX);
    struct points_view view;
    harvest();
    place_follow(random);
    roll_call(now);
    bool is_time = now - last_names > NAMES_NS;
    if (is_time) {
        read_names(now);
        fatal_watch();
    }
    if (trigger_check_signals(is_time) || trigger_check_switches(now))
        roll_rearm();
    points_look(now, random >> 8, thrift(), &view);
    has_news = view.first_looks != 0;
    trigger_vary(now, roll_has_new(), random);
    counts_publish(now, false);
    choose_stride(&view, now);
    suspend_ring_every(ring_every);
}

/* Wait until those who were asked have answered, or had their time. */
static void
become_quiet(void)
{
    uint64_t start = clock_now(), until = start + QUIET_NS;
    harvest();
    while (harvest_is_waiting(start - QUIET_NS) && clock_now() < until) {
        suspend_wait(clock_now() + POLL_NS);
        harvest();
    }
}

/* Nothing is in flight while somebody wants it so. */
static void
pause_sampling(void)
{
    become_quiet();
    atomic_store(&is_quiet, 1);
    sys_futex_wake(&is_quiet, 1 << 30);
    while (atomic_load(&pause_wanted) != 0 && atomic_load(&stop_wanted) == 0)
        suspend_wait(clock_now() + PAUSE_NS);
    atomic_store(&is_quiet, 0);
}

static bool
is_called(void)
{
    return atomic_load_explicit(&stop_wanted, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&pause_wanted, memory_order_relaxed) != 0 ||
           trigger_must_leave_trap() || credentials_are_wanted();
}

/* Do what other threads want of the sampler while sampling goes on. */
static void
heed(void)
{
    credentials_follow();
    if (trigger_must_leave_trap() && trigger_check_signals(false))
        roll_rearm();
    if (atomic_load(&pause_wanted) != 0)
        pause_sampling();
}

/* Sleep until the next instant. Samples that ring before are harvested, and
 * what seemed idle is looked at soon. */
static void
sleep_until_next(void)
{
    uint64_t at = pace_next(&pace, clock_now(), stride);
    while (clock_now() < at && !is_called()) {
        suspend_wait(at);
        if (!suspend_is_due())
            continue;
        harvest();
        pace_hurry(&pace, clock_now());
        stride = 1;
        at = pace_next(&pace, clock_now(), stride);
    }
}

/* The delay is over. */
static void
begin_sampling(uint64_t now)
{
    trigger_enable();
    roll_start(now, options.delay != 0);
    budget_begin(&budget, options.budget, now, clock_own());
    points_begin();
}

/* By its time, or with the process: nothing is sampled any more, and what is
 * known goes into the journal. Later calls do nothing. */
static void
end_sampling(void)
{
    trigger_stop();
    become_quiet();
    harvest_give_up(LOSS_SILENT);
    roll_end(clock_now());
}

static void
run(void)
{
    uint64_t begin = options.start + options.delay;
    uint64_t end =
        options.duration != 0 ? begin + options.duration : UINT64_MAX;
    uint64_t seed = begin;
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    pace_begin(&pace, begin, options.period, seed);
    first_tick = begin;
    while (clock_now() < begin && atomic_load(&stop_wanted) == 0) {
        suspend_wait(begin);
        heed();
    }
    begin_sampling(clock_now());
    while (atomic_load(&stop_wanted) == 0 && !roll_is_alone()) {
        if (is_over || clock_now() >= end) {
            end_sampling();
            suspend_wait(clock_now() + ROLL_NS);
            roll_call(clock_now());
        } else {
            sleep_until_next();
            if (!is_called())
                tick();
            is_over = journal_error() != 0;
        }
        heed();
    }
}

/* Wait until WORD is not 0, for NS at most. */
static bool
wait_for(_Atomic uint32_t *word, uint64_t ns)
{
    uint64_t until = clock_now() + ns;
    while (atomic_load(word) == 0 && clock_now() < until)
        sys_futex_wait(word, 0, until);
    return atomic_load(word) != 0;
}

/* Make the threads' own clocks interrupt them. Returns whether sampling can
 * begin. */
static bool
attach(bool has_own_files)
{
    struct roll_options roll = {.pid = options.pid,
                                .is_child = options.is_child,
                                .has_own_files = has_own_files,
                                .registered_only = options.registered_only};
    struct trigger_options trigger = {.wanted = options.trigger,
                                      .pid = options.pid,
                                      .period = options.period,
                                      .has_own_files = has_own_files,
                                      .registered_only =
                                          options.registered_only};
    roll_begin(&roll);
    trigger_error = trigger_begin(&trigger);
    if (trigger_error == 0)
        roll_prepare();
    atomic_store(&attached, 1);
    sys_futex_wake(&attached, 1);
    return trigger_error == 0;
}

static void
finish(void)
{
    uint32_t reason = atomic_load(&stop_wanted);
    end_sampling();
    counts_end(reason != 0 ? (enum end_reason)(reason - 1) : END_EXIT);
}

static void *
sampler_main(void *unused)
{
    (void)unused;
    bool has_own_files = own_thread_settle(options.period);
    if (has_own_files)
        journal_keep_open();
    place_begin();
    sampler_tid = sys_gettid();
    if (attach(has_own_files)) {
        wait_for(&released, PAUSE_NS);
        run();
        finish();
    } else {
        journal_forget();
    }
    if (atomic_load(&stop_wanted) != 0)
        errand_offer();
    atomic_store(&stopped, 1);
    sys_futex_wake(&stopped, 1 << 30);
    if (atomic_load(&stop_wanted) != 0)
        errand_serve();
    return NULL;
}

static void
reset(void)
{
    threads_ignore(0);
    errand_reset();
    /* Before a new thread can arm a timer by what held before a fork: its
     * signal would not be known as ours, and end the process. */
    thread_life_use_timers(0, 0, 0);
    is_over = has_news = false;
    trigger_error = 0;
    last_names = 0;
    stride = 1;
    ring_every = OWN_MOST;
    atomic_store(&stop_wanted, 0);
    atomic_store(&stopped, 0);
    atomic_store(&pause_wanted, 0);
    atomic_store(&is_quiet, 0);
    atomic_store(&released, 0);
    atomic_store(&attached, 0);
}

int
sampler_start(const struct sampler_options *given)
{
    options = *given;
    reset();
    /* What follows fails for want of memory, or says why. */
    errno = ENOMEM;
    /* The table of tids is there before a handler can look into it. */
    if (threads_begin(given->pid, 0, NULL, false) != 0)
        return -1;
    struct suspend_options suspend = {.signo = given->signo,
                                      .pid = given->pid,
                                      .threads = THREADS_MAX,
                                      .max_depth = given->max_depth,
                                      .index_of_tid = threads_indexes(),
                                      .tid_count = THREADS_TIDS,
                                      .registered_only = given->registered_only,
                                      .young = given->period,
                                      .refresh = refresh_modules,
                                      .sigaction = real_libc_sigaction(),
                                      .next_sigaction = REAL(sigaction),
                                      .leave_trap = trigger_leave_trap};
    if (modules_begin(on_module) != 0 ||
        account_begin(given->period, given->cpu_only) != 0 ||
        registry_begin() != 0 || cpu_timer_begin() != 0 ||
        suspend_begin(&suspend) != 0 || wait_begin(given->max_depth) != 0)
        return -1;
    return own_thread_start(sampler_main);
}

int
sampler_release(void)
{
    bool in_time = wait_for(&attached, ATTACH_NS);
    atomic_store(&released, 1);
    sys_futex_wake(&released, 1);
    return in_time ? trigger_error : 0;
}

void
sampler_wait_end(void)
{
    while (!wait_for(&stopped, STOP_NS))
        ;
    while (arch_syscall(SYS_tgkill, options.pid, sampler_tid, 0, 0, 0, 0) == 0)
        sys_futex_wait(&stopped, 1, clock_now() + POLL_NS);
}

int
sampler_stop(enum end_reason reason, struct sampler_result *result)
{
    uint32_t none = 0;
    atomic_compare_exchange_strong(&stop_wanted, &none, (uint32_t)reason + 1);
    suspend_ring();
    if (!wait_for(&stopped, STOP_NS))
        return -1;
    const struct account_sums *sums = account_sums();
    *result =
        (struct sampler_result){.is_blind = look_is_blind(),
                                .is_displaced = trigger_was_displaced(),
                                .taken =
                                    sums->counts.taken + sums->counts.peeked,
                                .asked = sums->counts.asked,
                                .threads = roll_total(),
                                .cpu = sums->counts.sampler_cpu,
                                .error = journal_error(),
                                .trigger_error = trigger_error,
                                .elapsed = sums->counts.time - first_tick};
    for (unsigned i = 0; i < LOSS_COUNT; i++) {
        result->lost_by[i] = sums->lost[i];
        result->lost += sums->lost[i];
    }
    return 0;
}

void
sampler_pause(void)
{
    atomic_fetch_add(&pause_wanted, 1);
    suspend_ring();
    uint64_t until = clock_now() + PAUSE_NS;
    while (atomic_load(&is_quiet) == 0 && atomic_load(&stopped) == 0 &&
           clock_now() < until)
        sys_futex_wait(&is_quiet, 0, clock_now() + POLL_NS * 20);
}

void
sampler_resume(void)
{
    atomic_fetch_sub(&pause_wanted, 1);
    suspend_ring();
}

void
sampler_forget(void)
{
    journal_forget();
}
