/* SPDX-License-Identifier: MIT */
/*
 * trigger.c -- chooses who interrupts; see trigger.h. The sampler's descriptor
 * table is its own by now, so what is opened here the program does not see.
 *
 * The hard thing is the first period of a thread's life: perf gives a new
 * thread a whole period before its first sample, and one that has not waited
 * yet is not asked, so threads that live shorter would never be seen. Each
 * thread of pthread_create therefore arms a timer of one shot, which expires at
 * the first tick that finds it running.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/signals.h"
#include "capture/suspend.h"
#include "target/threads.h"
#include "cpu_timer.h"
#include "go_program.h"
#include "perf_event.h"
#include "switches.h"
#include "thread_life.h"
#include "traced.h"
#include "trigger.h"
#include "vary.h"

/* A thread that has run through so many ticks has had its first sample, or
 * blocks it. */
#define YOUNG_TICKS 2u

/* How far perf's period goes to either side, as a part of it. Where the
 * kernel's time comes from timers, the samples of the two are weighed by their
 * periods, so perf's must be known well. */
#define SPREAD 5u
#define SPREAD_SPLIT 50u

static struct trigger_options options;
static enum trigger best;
static bool sees_kernel;
static struct vary vary;
static uint64_t tick;  /* ns between two ticks of the kernel */
static int ask_number; /* that timers were made with */
static bool is_displaced;
static bool is_resting; /* perf, while threads are switched often */
static bool has_trap;   /* perf's number was borrowed, or a parent's was */
static enum traced tracer;

/* Whether perf's events may be there; somebody wants them gone. */
static _Atomic uint32_t has_events, must_leave;
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
        has_trap = signals_borrow(SIGNALS_TRAP, SIGTRAP) == 0;
}

/* Where it is known that perf cannot be had: -errno, else 0. */
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

/* With registered threads only, each gets an event of its own later; here it is
 * found out whether that will work. */
static int
begin_perf(void)
{
    /* A descriptor in the program's table might be closed by it, and its number
     * given to another file. */
    if (!options.has_own_files)
        return -EPERM;
    int result = forbid_perf();
    if (result != 0)
        return result;
    if (signals_number(SIGNALS_TRAP) == 0) {
        /* Given back since: it stays the program's. */
        if (has_trap)
            return -EBUSY;
        if (signals_borrow(SIGNALS_TRAP, SIGTRAP) != 0)
            return -errno;
    }
    has_trap = true;
    /* Who takes the number from now on waits (trigger_leave_trap); who did a
     * moment ago has it already. */
    atomic_store(&has_events, 1);
    pid_t tid = options.registered_only ? sys_gettid() : options.pid;
    result =
        signals_number(SIGNALS_TRAP) == 0
            ? -EBUSY
            : perf_event_open_on(tid, options.registered_only, options.period,
                                 suspend_perf_cookie(), &sees_kernel);
    if (result != 0) {
        take_events_back();
        return result;
    }
    if (options.registered_only)
        perf_event_stop();
    best = TRIGGER_PERF;
    return 0;
}

static int
begin_timers(void)
{
    sees_kernel = true;
    int result = cpu_timer_make(options.pid, suspend_timer_cookie(false));
    if (result != 0)
        return result;
    best = TRIGGER_TIMER;
    return 0;
}

/* The best that works now. */
static int
choose(void)
{
    bool any = options.wanted == OPTION_TRIGGER_AUTO;
    int result = 0;
    best = TRIGGER_ASK;
    sees_kernel = true;
    is_resting = false;
    if (any && tracer == TRACED_BY_OTHER) {
        best = TRIGGER_NONE;
        return 0;
    }
    if (options.wanted == OPTION_TRIGGER_PERF || (any && tracer == TRACED_NOT))
        result = begin_perf();
    if (options.wanted == OPTION_TRIGGER_TIMER || (any && best != TRIGGER_PERF))
        result = begin_timers();
    return any ? 0 : result;
}

void
trigger_reset(void)
{
    thread_life_use_timers(0, 0, 0);
    atomic_store(&has_events, 0);
    atomic_store(&must_leave, 0);
}

int
trigger_begin(const struct trigger_options *given)
{
    options = *given;
    perf_event_begin();
    tick = clock_tick();
    vary_begin(&vary, options.period);
    ask_number = signals_number(SIGNALS_ASK);
    is_displaced = false;
    switches_begin();
    trigger_reset();
    tracer = traced_look(clock_now());
    return choose();
}

void
trigger_enable(void)
{
    perf_event_enable();
    if (options.registered_only || best == TRIGGER_NONE)
        return;
    /* Again and again where timers are the trigger, or show what perf does not
     * see; else once, in the first period of a thread's life. */
    bool once = best == TRIGGER_ASK || (best == TRIGGER_PERF && sees_kernel);
    thread_life_use_timers(suspend_timer_cookie(trigger_is_split()), 1,
                           once ? 0 : options.period);
}

bool
trigger_is_ask(void)
{
    return best == TRIGGER_ASK;
}

uint64_t
trigger_timer_period(void)
{
    return options.period > tick ? options.period : tick;
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

/* A timer that expires every period of the thread's CPU time. */
static int
arm_timer(pid_t tid, bool kernel_only)
{
    int result = cpu_timer_make(tid, suspend_timer_cookie(kernel_only));
    if (result == 0)
        cpu_timer_set(tid, 1, options.period);
    return result;
}

static int
open_event(pid_t tid)
{
    bool unused;
    return perf_event_open_on(tid, options.registered_only, options.period,
                              suspend_perf_cookie(), &unused);
}

void
trigger_prepare(pid_t tid)
{
    /* The main thread has the event, and those made since have inherited it. If
     * it cannot be had, that is noticed as with any thread. */
    if (best == TRIGGER_PERF && !options.registered_only && tid != options.pid)
        (void)open_event(tid);
}

enum trigger
trigger_of_thread(pid_t tid)
{
    if (best == TRIGGER_PERF && options.registered_only) {
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
    if (options.wanted != OPTION_TRIGGER_AUTO || from == TRIGGER_ASK ||
        from == TRIGGER_NONE || (from == TRIGGER_TIMER && !may_ask))
        return from;
    /* Whatever timer it has did not help. */
    cpu_timer_drop(tid);
    if (from == TRIGGER_PERF && arm_timer(tid, false) == 0)
        return TRIGGER_TIMER;
    return may_ask ? TRIGGER_ASK : from;
}

void
trigger_rearm(pid_t tid, uint64_t random)
{
    if (best == TRIGGER_TIMER)
        cpu_timer_set(tid, 1 + random % (2 * options.period), options.period);
    else if (best == TRIGGER_ASK)
        cpu_timer_drop(tid);
}

bool
trigger_may_ask(pid_t tid, uint64_t used)
{
    if (!cpu_timer_is_there(tid))
        return true;
    if (used > YOUNG_TICKS * tick)
        cpu_timer_drop(tid);
    return false;
}

void
trigger_vary(uint64_t now, bool has_new, uint64_t random)
{
    if (best != TRIGGER_PERF || options.registered_only ||
        !vary_is_time(&vary, now, has_new))
        return;
    uint64_t period = vary_next(&vary, now, clock_thread(options.pid), has_new,
                                sees_kernel ? SPREAD : SPREAD_SPLIT, random);
    if (period != 0)
        perf_event_set_period(period);
}

/* A handler of ours was replaced by a raw system call: the number is the
 * program's. */
static void
look_for_displaced(enum signals_role role)
{
    if (signals_number(role) == 0 || signals_is_installed(role))
        return;
    is_displaced = true;
    signals_lose(role);
}

void
trigger_leave_trap(void)
{
    uint64_t until = clock_now() + LEAVE_NS;
    if (atomic_load(&has_events) == 0)
        return;
    atomic_store(&must_leave, 1);
    suspend_ring();
    while (atomic_load(&has_events) != 0 && clock_now() < until)
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
    if (options.wanted == OPTION_TRIGGER_AUTO)
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

/* Perf's events are taken back, and timers, also of threads that began with one
 * a moment ago. */
static void
take_all_back(void)
{
    thread_life_use_timers(0, 0, 0);
    take_events_back();
    cpu_timer_drop_all();
}

bool
trigger_check_tracer(uint64_t now)
{
    enum traced before = tracer;
    if (options.wanted != OPTION_TRIGGER_AUTO)
        return false;
    tracer = traced_look(now);
    bool has_changed = tracer != before;
    if (has_changed || best == TRIGGER_NONE)
        take_all_back();
    if (has_changed) {
        (void)choose();
        prepare_all();
        trigger_enable();
    }
    traced_confirm();
    return has_changed;
}

/* Closed, not only disabled: an event that is there costs something at each
 * switch in any case. */
static void
rest(void)
{
    cpu_timer_drop_all();
    take_events_back();
    is_resting = true;
    if (begin_timers() != 0)
        best = TRIGGER_ASK;
}

static void
resume(void)
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
    if ((best != TRIGGER_PERF && !is_resting) || options.registered_only ||
        options.wanted != OPTION_TRIGGER_AUTO ||
        switches_are_many(now) == is_resting)
        return false;
    if (is_resting)
        resume();
    else
        rest();
    trigger_enable();
    return true;
}

bool
trigger_was_displaced(void)
{
    return is_displaced;
}

void
trigger_stop(void)
{
    thread_life_use_timers(0, 0, 0);
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
        cpu_timer_set(sys_gettid(), 1, options.period);
}
