/* SPDX-License-Identifier: MIT */
/*
 * trigger.c -- see trigger.h. The sampler already has its own descriptor table,
 * so the program does not see what is opened here.
 *
 * The hard thing is the first period of a thread's life. perf gives a new
 * thread a whole period before its first sample. A thread that has not waited
 * yet is not asked. So threads that live shorter would never be seen. Therefore
 * each thread of pthread_create arms a one-shot timer. It expires at the first
 * tick that finds the thread running.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "process/threads.h"
#include "sampling/epoch.h"
#include "sampling/go_program.h"
#include "sampling/thread_ends.h"
#include "sampling/tracee.h"
#include "signals/cookie.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "cpu_timer.h"
#include "perf_event.h"
#include "switch_rate.h"
#include "vary.h"
#include "trigger.h"

/* Ticks after which a running thread has had its first sample, or blocks the
 * signal. */
#define YOUNG_TICKS 2u

/* If a period has more ticks of the kernel, a tick finds a running thread much
 * sooner than its next sample comes. */
#define LONG_TICKS 2u

/* perf's period varies by up to 1 / SPREAD of it to either side. SPREAD_SPLIT
 * is for the case that timers show the kernel's time. Then the samples of perf
 * and timers are weighed by their periods, so perf's period must be known
 * well. */
#define SPREAD 5u
#define SPREAD_SPLIT 50u

static const struct settings *settings;
static OF_PROFILE enum trigger best;
static OF_PROFILE bool sees_kernel;
static OF_PROFILE struct vary vary;
/* The signal number that timers were made with. */
static OF_PROFILE int ask_number;
static OF_PROFILE bool is_displaced;
static OF_PROFILE bool is_resting; /* timers replace perf */
static bool has_trap; /* perf's number was borrowed, here or in a parent */
static OF_PROFILE uint64_t mix; /* of draw_period; 0: periods are not drawn */
static OF_PROFILE enum tracee tracer;

/* has_events: whether perf's events may be open. must_leave: the program wants
 * them closed. LEAVE_NS: longest ns that a program's thread waits for that. */
static OF_PROFILE _Atomic uint32_t has_events, must_leave;

/* Since trigger_sample_soon: threads keep their timers. */
static OF_PROFILE _Atomic bool is_ending;
#define LEAVE_NS 1000000000u

static void
take_events_back(void)
{
    perf_event_stop();
    atomic_store(&has_events, 0);
    atomic_store(&must_leave, 0);
    sys_futex_wake(&has_events, 1 << 30);
}

/* SIGTRAP would end valgrind, which expects none from outside. */
static bool
may_borrow(void)
{
    return !arch_is_simulated() && !go_program_is_this();
}

void
trigger_borrow(enum option_trigger wanted)
{
    bool is_wanted =
        wanted == OPTION_TRIGGER_AUTO || wanted == OPTION_TRIGGER_PERF;
    if (is_wanted && !has_trap && may_borrow())
        has_trap = disposition_borrow(SIGNALS_TRAP, SIGTRAP) == 0;
}

/* Returns -errno if it is known that perf cannot be used, else 0. */
static int
forbid_perf(void)
{
    if (arch_is_simulated())
        return -ENOTSUP;
    return go_program_is_this() ? -EBUSY : 0;
}

int
trigger_try(enum option_trigger wanted)
{
    if (wanted != OPTION_TRIGGER_PERF)
        return 0;
    int result = forbid_perf();
    return result != 0 ? result : perf_event_try();
}

/* If only registered threads are sampled, each of them later gets its own
 * event. Here one is opened to find out whether that works. */
static int
begin_perf(void)
{
    /* The program might close a descriptor in its own table, and give the
     * number to another file. */
    if (!settings->has_own_files)
        return -EPERM;
    int result = forbid_perf();
    if (result != 0)
        return result;
    if (signals_number(SIGNALS_TRAP) == 0) {
        /* The number has been given back, and stays the program's. */
        if (has_trap)
            return -EBUSY;
        if (disposition_borrow(SIGNALS_TRAP, SIGTRAP) != 0)
            return -errno;
    }
    has_trap = true;
    /* A thread that takes the number from now on waits (trigger_leave_trap). If
     * a thread took it a moment ago, the test below sees that. */
    atomic_store(&has_events, 1);
    pid_t tid =
        settings_registered_only(settings) ? sys_gettid() : settings->pid;
    result =
        signals_number(SIGNALS_TRAP) == 0
            ? -EBUSY
            : perf_event_open_on(tid, settings_registered_only(settings),
                                 epoch_period(), cookie_make_own(COOKIE_PERF),
                                 &sees_kernel);
    if (result != 0) {
        take_events_back();
        return result;
    }
    if (settings_registered_only(settings))
        perf_event_stop();
    best = TRIGGER_PERF;
    return 0;
}

static uint64_t
timer_cookie(bool kernel_only)
{
    return cookie_make_own(kernel_only ? COOKIE_TIMER_KERNEL : COOKIE_TIMER);
}

static int
begin_timers(void)
{
    sees_kernel = true;
    int result = cpu_timer_make(settings->pid, timer_cookie(false));
    if (result != 0)
        return result;
    best = TRIGGER_TIMER;
    return 0;
}

/* Choose the best trigger that works now. */
static int
choose_trigger(void)
{
    bool any = settings->options->trigger.number == OPTION_TRIGGER_AUTO;
    int result = 0;
    best = TRIGGER_ASK;
    sees_kernel = true;
    is_resting = false;
    if (any && tracer == TRACEE_BY_OTHER) {
        best = TRIGGER_NONE;
        return 0;
    }
    if (settings->options->trigger.number == OPTION_TRIGGER_PERF ||
        (any && tracer == TRACEE_NOT))
        result = begin_perf();
    if (settings->options->trigger.number == OPTION_TRIGGER_TIMER ||
        (any && best != TRIGGER_PERF))
        result = begin_timers();
    return any ? 0 : result;
}

int
trigger_begin(const struct settings *given)
{
    settings = given;
    perf_event_begin();
    vary_begin(&vary, epoch_period());
    mix = 0;
    ask_number = signals_number(SIGNALS_ASK);
    is_displaced = false;
    atomic_store(&is_ending, false);
    switch_rate_begin();
    tracer = tracee_look(clock_now());
    return choose_trigger();
}

void
trigger_enable(void)
{
    perf_event_enable();
    if (settings_registered_only(settings) || best == TRIGGER_NONE)
        return;
    /* Timers expire again and again where they are the trigger, or show what
     * perf does not see; otherwise once, in the first period of a thread's
     * life. */
    bool once = best == TRIGGER_ASK || (best == TRIGGER_PERF && sees_kernel);
    thread_ends_use_timers(timer_cookie(trigger_is_split()), 1,
                           once ? 0 : epoch_period());
}

bool
trigger_is_ask(void)
{
    return best == TRIGGER_ASK;
}

bool
trigger_is_perf(void)
{
    return best == TRIGGER_PERF;
}

uint64_t
trigger_timer_period(uint64_t period)
{
    return period > clock_tick() ? period : clock_tick();
}

bool
trigger_is_split(void)
{
    return best == TRIGGER_PERF && !sees_kernel;
}

enum limit
trigger_limit(enum trigger trigger)
{
    switch (trigger) {
    case TRIGGER_PERF:
        return trigger_is_split() ? LIMIT_KERNEL : LIMIT_MERGED;
    case TRIGGER_TIMER:
        return is_resting ? LIMIT_SWITCHES : LIMIT_TIMERS;
    case TRIGGER_ASK:
        return LIMIT_SAMPLER;
    default:
        return LIMIT_TRACED;
    }
}

/* Arm a timer that expires every period of the thread's CPU time. */
static int
arm_timer(pid_t tid, bool kernel_only)
{
    int result = cpu_timer_make(tid, timer_cookie(kernel_only));
    if (result == 0)
        cpu_timer_set(tid, 1, epoch_period());
    return result;
}

/* Returns the period of the next thread's event. */
static uint64_t
draw_period(void)
{
    uint64_t period = epoch_period();
    uint64_t most = period / (sees_kernel ? SPREAD : SPREAD_SPLIT);
    if (mix == 0)
        return period;
    mix = mix * 6364136223846793005u + 1442695040888963407u;
    return period - most + (mix >> 33) % (2 * most + 1);
}

static int
open_event(pid_t tid)
{
    bool unused;
    return perf_event_open_on(tid, settings_registered_only(settings),
                              draw_period(), cookie_make_own(COOKIE_PERF),
                              &unused);
}

void
trigger_prepare(pid_t tid)
{
    /* The main thread has the event, and threads made since have inherited it.
     * If it fails here, the missing samples show it, as with any other
     * thread. */
    if (best == TRIGGER_PERF && !settings_registered_only(settings) &&
        tid != settings->pid)
        (void)open_event(tid);
}

enum trigger
trigger_of_thread(pid_t tid)
{
    if (best == TRIGGER_PERF && settings_registered_only(settings)) {
        if (open_event(tid) != 0)
            return trigger_after(TRIGGER_PERF, tid, true);
        perf_event_enable();
    }
    if (trigger_is_split())
        (void)arm_timer(tid, true);
    if (best != TRIGGER_TIMER)
        return best;
    return arm_timer(tid, false) == 0 ? TRIGGER_TIMER
                                      : trigger_after(TRIGGER_TIMER, tid, true);
}

enum trigger
trigger_after(enum trigger from, pid_t tid, bool may_ask)
{
    if (settings->options->trigger.number != OPTION_TRIGGER_AUTO ||
        from == TRIGGER_ASK || from == TRIGGER_NONE ||
        (from == TRIGGER_TIMER && !may_ask))
        return from;
    /* The thread has a timer, which did not help. */
    cpu_timer_drop(tid);
    if (from == TRIGGER_PERF && arm_timer(tid, false) == 0)
        return TRIGGER_TIMER;
    return may_ask ? TRIGGER_ASK : from;
}

enum trigger
trigger_return(enum trigger from, pid_t tid)
{
    if (best != TRIGGER_PERF)
        return from;
    cpu_timer_drop(tid);
    if (trigger_is_split())
        (void)arm_timer(tid, true);
    return TRIGGER_PERF;
}

void
trigger_rearm(pid_t tid, uint64_t random)
{
    uint64_t period = epoch_period();
    if (best == TRIGGER_ASK && !atomic_load(&is_ending))
        cpu_timer_drop(tid);
    /* A shorter period expires at each tick. The average equals the time that
     * was left, so that no point is lost. */
    if (best != TRIGGER_TIMER || period <= clock_tick())
        return;
    uint64_t left = cpu_timer_left(tid);
    if (left != 0)
        cpu_timer_set(tid, 1 + random % (2 * left), period);
}

bool
trigger_may_ask(pid_t tid, uint64_t used)
{
    if (!cpu_timer_is_there(tid))
        return true;
    if (used > YOUNG_TICKS * clock_tick() && !atomic_load(&is_ending))
        cpu_timer_drop(tid);
    return false;
}

void
trigger_vary(uint64_t now, bool has_new, uint64_t random)
{
    if (best != TRIGGER_PERF || settings_registered_only(settings) ||
        !vary_is_time(&vary, now, has_new))
        return;
    uint64_t period =
        vary_next(&vary, now, clock_thread(settings->pid), has_new,
                  sees_kernel ? SPREAD : SPREAD_SPLIT, random);
    if (period != 0)
        perf_event_set_period(period);
}

/* If a raw system call has replaced our handler of ROLE, the number is the
 * program's. */
static void
look_for_displaced(enum signals_role role)
{
    if (signals_number(role) == 0 || disposition_is_installed(role))
        return;
    is_displaced = true;
    disposition_lose(role);
}

void
trigger_leave_trap(void)
{
    uint64_t until = clock_now() + LEAVE_NS;
    if (atomic_load(&has_events) == 0)
        return;
    atomic_store(&must_leave, 1);
    ask_ring();
    while (atomic_load(&has_events) != 0 && !clock_expires(until))
        sys_futex_wait(&has_events, 1, until);
}

bool
trigger_must_leave_trap(void)
{
    return atomic_load_explicit(&must_leave, memory_order_relaxed) != 0;
}

static void
leave_perf(void)
{
    take_events_back();
    cpu_timer_drop_all();
    best = TRIGGER_ASK;
    if (settings->options->trigger.number == OPTION_TRIGGER_AUTO)
        begin_timers();
    trigger_enable();
}

bool
trigger_check_signals(bool look_closely)
{
    if (look_closely)
        look_for_displaced(SIGNALS_ASK);
    if (look_closely)
        look_for_displaced(SIGNALS_CONTROL);
    if (best == TRIGGER_PERF)
        look_for_displaced(SIGNALS_TRAP);
    bool has_moved = signals_number(SIGNALS_ASK) != ask_number;
    ask_number = signals_number(SIGNALS_ASK);
    if (best == TRIGGER_PERF && signals_number(SIGNALS_TRAP) == 0) {
        leave_perf();
        return true;
    }
    if (has_moved)
        cpu_timer_drop_all();
    return has_moved;
}

static void
prepare_all(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0)
            trigger_prepare(threads_at(i)->tid);
}

/* Close perf's events, and delete all timers, also those of threads that began
 * a moment ago. */
static void
take_all_back(void)
{
    thread_ends_use_timers(0, 0, 0);
    take_events_back();
    cpu_timer_drop_all();
}

void
trigger_pause(void)
{
    take_all_back();
}

/* The list of threads is read first: those that begin later inherit an event.
 */
void
trigger_resume(uint64_t random)
{
    if (best == TRIGGER_NONE)
        return;
    threads_refresh();
    vary_begin(&vary, epoch_period());
    mix = random | 1;
    if (best == TRIGGER_PERF && begin_perf() != 0) {
        best = TRIGGER_ASK;
        if (settings->options->trigger.number == OPTION_TRIGGER_AUTO)
            begin_timers();
    }
    prepare_all();
    trigger_enable();
}

bool
trigger_check_tracer(uint64_t now)
{
    enum tracee before = tracer;
    if (settings->options->trigger.number != OPTION_TRIGGER_AUTO)
        return false;
    tracer = tracee_look(now);
    bool has_changed = tracer != before;
    if (has_changed || best == TRIGGER_NONE)
        take_all_back();
    if (has_changed) {
        (void)choose_trigger();
        prepare_all();
        trigger_enable();
    }
    tracee_confirm();
    return has_changed;
}

/* The events are closed, not only disabled: an open event costs something at
 * each switch. */
static void
begin_rest(void)
{
    cpu_timer_drop_all();
    take_events_back();
    is_resting = true;
    if (begin_timers() != 0)
        best = TRIGGER_ASK;
}

static void
end_rest(void)
{
    is_resting = false;
    if (begin_perf() != 0)
        return;
    cpu_timer_drop_all();
    prepare_all();
}

bool
trigger_check_switches(uint64_t now)
{
    if ((best != TRIGGER_PERF && !is_resting) ||
        settings_registered_only(settings) ||
        settings->options->trigger.number != OPTION_TRIGGER_AUTO ||
        switch_rate_are_many(now) == is_resting)
        return false;
    if (is_resting)
        end_rest();
    else
        begin_rest();
    trigger_enable();
    return true;
}

bool
trigger_was_displaced(void)
{
    return is_displaced;
}

void
trigger_sample_soon(pid_t ender)
{
    atomic_store(&is_ending, true);
    bool is_far =
        trigger_is_ask() || epoch_period() > LONG_TICKS * clock_tick();
    for (uint32_t i = 0; is_far && i < threads_limit(); i++) {
        pid_t tid = threads_at(i)->tid;
        if (tid != 0 && tid != ender)
            (void)cpu_timer_make(tid, timer_cookie(trigger_is_split()));
    }
    /* A sampler without a CPU may not know all threads, but unknown threads
     * have timers of their own. */
    if (is_far)
        cpu_timer_set_all(1);
}

void
trigger_stop(void)
{
    thread_ends_use_timers(0, 0, 0);
    take_events_back();
    cpu_timer_stop();
}

void
trigger_before_fork(void)
{
    cpu_timer_set(sys_gettid(), 0, 0);
}

void
trigger_after_fork(void)
{
    if (best == TRIGGER_TIMER || trigger_is_split())
        cpu_timer_set(sys_gettid(), 1, epoch_period());
}
