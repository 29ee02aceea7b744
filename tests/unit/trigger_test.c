/* SPDX-License-Identifier: MIT */
/*
 * trigger_test.c -- which trigger a process and a thread get, and what takes
 * its place when it does not work. Events, timers, borrowed signals and the
 * tracer are this file's.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/ask.h"
#include "process/threads.h"
#include "sampling/epoch.h"
#include "sampling/go_program.h"
#include "sampling/thread_ends.h"
#include "sampling/tracee.h"
#include "sampling/trigger/cpu_timer.h"
#include "sampling/trigger/perf_event.h"
#include "sampling/trigger/switch_rate.h"
#include "sampling/trigger/trigger.h"
#include "signals/cookie.h"
#include "signals/disposition.h"

#define MS 1000000ull
#define MAIN 10
#define OTHER 11
#define TIDS 16

/* What works, and what was done. */
static struct {
    int perf_result, timer_result, trap_result;
    bool sees_kernel, are_many, is_go;
    enum tracee tracer;
    int ask_number, trap_number;
    bool has_event[TIDS], has_timer[TIDS];
    bool is_enabled;
    uint64_t first[TIDS], interval[TIDS]; /* of timers */
    uint64_t left;                        /* until they expire */
    uint64_t period;                      /* of perf, as set later */
    uint64_t young_cookie, young_interval;
    bool is_asked_for_alone; /* the last event is for one thread */
    uint64_t opened[TIDS];   /* periods of events */
    struct thread threads[2];
} world;

int
perf_event_open_on(pid_t tid, bool alone, uint64_t period, uint64_t cookie,
                   bool *sees_kernel)
{
    (void)cookie;
    world.opened[tid % TIDS] = period;
    if (world.perf_result != 0)
        return world.perf_result;
    *sees_kernel = world.sees_kernel;
    world.is_asked_for_alone = alone;
    world.has_event[tid % TIDS] = true;
    return 0;
}

void
perf_event_begin(void)
{
}

int
perf_event_try(void)
{
    return world.perf_result;
}

void
perf_event_enable(void)
{
    world.is_enabled = true;
}

void
perf_event_set_period(uint64_t period)
{
    world.period = period;
}

void
perf_event_stop(void)
{
    memset(world.has_event, 0, sizeof(world.has_event));
    world.is_enabled = false;
}

int
cpu_timer_make(pid_t tid, uint64_t cookie)
{
    (void)cookie;
    if (world.timer_result == 0)
        world.has_timer[tid] = true;
    return world.timer_result;
}

bool
cpu_timer_is_there(pid_t tid)
{
    return world.has_timer[tid];
}

void
cpu_timer_set(pid_t tid, uint64_t first, uint64_t interval)
{
    if (tid < TIDS) {
        world.first[tid] = first;
        world.interval[tid] = interval;
    }
}

void
cpu_timer_set_all(uint64_t first)
{
    for (pid_t tid = 0; tid < TIDS; tid++)
        if (world.has_timer[tid])
            cpu_timer_set(tid, first, 0);
}

uint64_t
cpu_timer_left(pid_t tid)
{
    return world.has_timer[tid] ? world.left : 0;
}

void
cpu_timer_drop(pid_t tid)
{
    world.has_timer[tid] = false;
}

void
cpu_timer_drop_all(void)
{
    memset(world.has_timer, 0, sizeof(world.has_timer));
}

void
cpu_timer_stop(void)
{
    cpu_timer_drop_all();
}

int
signals_number(enum signals_role role)
{
    return role == SIGNALS_TRAP  ? world.trap_number
           : role == SIGNALS_ASK ? world.ask_number
                                 : 0;
}

int
disposition_borrow(enum signals_role role, int signo)
{
    assert_int_equal(role, SIGNALS_TRAP);
    errno = EBUSY;
    if (world.trap_result == 0)
        world.trap_number = signo;
    return world.trap_result;
}

bool
disposition_is_installed(enum signals_role role)
{
    (void)role;
    return true;
}

void
disposition_lose(enum signals_role role)
{
    (void)role;
}

void
switch_rate_begin(void)
{
}

bool
switch_rate_are_many(uint64_t now)
{
    (void)now;
    return world.are_many;
}

enum tracee
tracee_look(uint64_t now)
{
    (void)now;
    return world.tracer;
}

void
tracee_confirm(void)
{
}

bool
go_program_is_this(void)
{
    return world.is_go;
}

void
thread_ends_use_timers(uint64_t cookie, uint64_t first, uint64_t interval)
{
    (void)first;
    world.young_cookie = cookie;
    world.young_interval = interval;
}

void
ask_ring(void)
{
}

int
threads_refresh(void)
{
    return 1;
}

uint32_t
threads_limit(void)
{
    return 2;
}

struct thread *
threads_at(uint32_t index)
{
    return &world.threads[index];
}

static struct options options;
static struct settings settings = {.options = &options,
                                   .pid = MAIN,
                                   .period = MS,
                                   .has_own_files = true};

static int
begin(void **state)
{
    (void)state;
    memset(&options, 0, sizeof(options));
    memset(&world, 0, sizeof(world));
    world.sees_kernel = true;
    world.ask_number = SIGPROF;
    world.trap_number = SIGTRAP;
    world.threads[0].tid = MAIN;
    world.threads[1].tid = OTHER;
    return 0;
}

static int
try_trigger(enum option_trigger wanted)
{
    options.trigger.number = wanted;
    epoch_begin(settings.period);
    int result = trigger_begin(&settings);
    if (result != 0)
        return result;
    trigger_prepare(MAIN);
    trigger_prepare(OTHER);
    trigger_enable();
    return 0;
}

static void
perf_is_the_first_choice(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_true(world.has_event[MAIN] && world.has_event[OTHER]);
    assert_true(world.is_enabled);
    assert_int_equal(trigger_of_thread(MAIN), TRIGGER_PERF);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_PERF);
    assert_false(world.has_timer[MAIN] || world.has_timer[OTHER]);
    /* A young thread has one shot of a timer. */
    assert_int_equal(world.young_cookie, cookie_make_own(COOKIE_TIMER));
    assert_int_equal(world.young_interval, 0);
}

static void
without_perf_timers_are_used(void **state)
{
    (void)state;
    world.perf_result = -EACCES;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    assert_true(world.has_timer[OTHER]);
    assert_int_equal(world.interval[OTHER], MS);
    assert_int_equal(world.young_interval, MS);
    assert_int_equal(trigger_limit(TRIGGER_TIMER), LIMIT_TIMERS);
}

static void
without_timers_threads_are_asked(void **state)
{
    (void)state;
    world.perf_result = -ENOSYS;
    world.timer_result = -EAGAIN;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_true(trigger_is_ask());
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_ASK);
}

/* The process ends: no thread that computes is left without a next sample,
 * until sampling stops. */
static void
at_the_end_a_tick_finds_threads(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_ASK), 0);
    trigger_sample_soon(MAIN);
    assert_false(world.has_timer[MAIN]);
    assert_true(world.has_timer[OTHER]);
    assert_int_equal(world.first[OTHER], 1);
    assert_false(trigger_may_ask(OTHER, 1000 * MS));
    trigger_rearm(OTHER, 1);
    assert_true(world.has_timer[OTHER]);
    trigger_stop();
    assert_false(world.has_timer[OTHER]);
}

/* RLIMIT_SIGPENDING is used up by other threads' timers. */
static void
one_thread_without_a_timer_is_asked(void **state)
{
    (void)state;
    world.perf_result = -EACCES;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    world.timer_result = -EAGAIN;
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_ASK);
    assert_false(trigger_is_ask());
}

static void
a_trigger_asked_for_by_name_does_not_fall_back(void **state)
{
    (void)state;
    world.perf_result = -EACCES;
    assert_int_equal(try_trigger(OPTION_TRIGGER_PERF), -EACCES);
    assert_int_equal(trigger_try(OPTION_TRIGGER_PERF), -EACCES);
    assert_int_equal(trigger_try(OPTION_TRIGGER_AUTO), 0);
    world.timer_result = -EAGAIN;
    assert_int_equal(try_trigger(OPTION_TRIGGER_TIMER), -EAGAIN);
    assert_int_equal(try_trigger(OPTION_TRIGGER_ASK), 0);
    world.perf_result = 0;
    assert_int_equal(try_trigger(OPTION_TRIGGER_PERF), 0);
    assert_int_equal(trigger_after(TRIGGER_PERF, MAIN, true), TRIGGER_PERF);
}

/* The program could close the event, or its runtime dies of a SIGTRAP. */
static void
perf_is_not_opened_where_it_may_harm(void **state)
{
    (void)state;
    settings.has_own_files = false;
    assert_int_equal(try_trigger(OPTION_TRIGGER_PERF), -EPERM);
    settings.has_own_files = true;
    world.is_go = true;
    assert_int_equal(try_trigger(OPTION_TRIGGER_PERF), -EBUSY);
    world.is_go = false;
    world.trap_number = 0;
    world.trap_result = -1;
    assert_true(try_trigger(OPTION_TRIGGER_PERF) != 0);
    assert_false(world.has_event[MAIN]);
}

static void
a_thread_that_is_not_reached_gets_the_next_one(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_int_equal(trigger_after(TRIGGER_PERF, OTHER, false), TRIGGER_TIMER);
    assert_true(world.has_timer[OTHER]);
    /* It may not be asked. */
    assert_int_equal(trigger_after(TRIGGER_TIMER, OTHER, false), TRIGGER_TIMER);
    assert_true(world.has_timer[OTHER]);
    assert_int_equal(trigger_after(TRIGGER_TIMER, OTHER, true), TRIGGER_ASK);
    assert_false(world.has_timer[OTHER]);
    world.timer_result = -EAGAIN;
    assert_int_equal(trigger_after(TRIGGER_PERF, OTHER, false), TRIGGER_PERF);
    assert_int_equal(trigger_after(TRIGGER_PERF, OTHER, true), TRIGGER_ASK);
}

static void
a_thread_that_perf_reaches_after_all_loses_its_timer(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_int_equal(trigger_after(TRIGGER_PERF, OTHER, false), TRIGGER_TIMER);
    assert_int_equal(trigger_return(TRIGGER_TIMER, OTHER), TRIGGER_PERF);
    assert_false(world.has_timer[OTHER]);
    /* A sample that comes late does not bring back events that are closed. */
    world.trap_number = 0;
    assert_true(trigger_check_signals(false));
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    assert_int_equal(trigger_return(TRIGGER_TIMER, OTHER), TRIGGER_TIMER);
    assert_true(world.has_timer[OTHER]);
}

/* perf leaves out the kernel: timers show that, in every thread. */
static void
timers_show_what_perf_does_not_see(void **state)
{
    (void)state;
    world.sees_kernel = false;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_true(trigger_is_split());
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_PERF);
    assert_true(world.has_timer[OTHER]);
    assert_int_equal(world.young_cookie, cookie_make_own(COOKIE_TIMER_KERNEL));
    assert_int_equal(world.young_interval, MS);
    assert_int_equal(trigger_limit(TRIGGER_PERF), LIMIT_KERNEL);
    /* A thread that perf reaches after all has its timer of the kernel. */
    assert_int_equal(trigger_after(TRIGGER_PERF, OTHER, true), TRIGGER_TIMER);
    assert_int_equal(trigger_return(TRIGGER_TIMER, OTHER), TRIGGER_PERF);
    assert_true(world.has_timer[OTHER]);
}

static void
the_program_gets_its_trap_back(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_false(trigger_check_signals(false));
    world.trap_number = 0;
    assert_true(trigger_check_signals(false));
    assert_false(world.has_event[MAIN] || world.has_event[OTHER]);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    /* It stays the program's. */
    assert_int_equal(try_trigger(OPTION_TRIGGER_PERF), -EBUSY);
}

static void
timers_go_when_their_signal_moves(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_TIMER), 0);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    world.ask_number = SIGRTMIN;
    assert_true(trigger_check_signals(false));
    assert_false(world.has_timer[OTHER]);
    assert_false(trigger_check_signals(false));
}

static void
no_thread_is_interrupted_under_a_tracer(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    world.tracer = TRACEE_BY_OTHER;
    assert_true(trigger_check_tracer(1));
    assert_false(world.has_event[MAIN] || world.has_timer[MAIN]);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_NONE);
    assert_int_equal(world.young_cookie, 0);
    assert_int_equal(trigger_limit(TRIGGER_NONE), LIMIT_TRACED);
    /* A debugger hands signals on, but each trap would stop it. */
    world.tracer = TRACEE_BY_TOOL;
    assert_true(trigger_check_tracer(2));
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    world.tracer = TRACEE_NOT;
    assert_true(trigger_check_tracer(3));
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_PERF);
    assert_true(world.has_event[OTHER]);
    assert_false(trigger_check_tracer(4));
}

static void
events_are_closed_while_threads_switch_often(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_false(trigger_check_switches(1));
    world.are_many = true;
    assert_true(trigger_check_switches(2));
    assert_false(world.has_event[MAIN]);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    assert_int_equal(trigger_limit(TRIGGER_TIMER), LIMIT_SWITCHES);
    world.are_many = false;
    assert_true(trigger_check_switches(3));
    assert_true(world.has_event[MAIN] && world.has_event[OTHER]);
    assert_true(world.is_enabled);
    assert_false(world.has_timer[OTHER]);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_PERF);
}

/* Of two pending signals of one number the kernel keeps the first. */
static void
a_thread_with_a_timer_is_not_asked(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_ASK), 0);
    assert_true(trigger_may_ask(OTHER, 0));
    world.has_timer[OTHER] = true;
    assert_false(trigger_may_ask(OTHER, 0));
    assert_true(world.has_timer[OTHER]);
    /* It was for the first ticks of its life. */
    assert_false(trigger_may_ask(OTHER, 1000 * MS));
    assert_false(world.has_timer[OTHER]);
    assert_true(trigger_may_ask(OTHER, 1000 * MS));
}

/* A shorter period than a tick has nothing to draw. */
static void
what_is_drawn_anew_loses_no_point(void **state)
{
    uint64_t sum = 0;
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_TIMER), 0);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    world.left = 40 * MS;
    trigger_rearm(OTHER, 9 * MS);
    assert_int_equal(world.first[OTHER], 1);
    epoch_change(100 * MS, 1);
    for (unsigned i = 0; i < 80; i++) {
        trigger_rearm(OTHER, i * MS + MS / 2 - 1);
        assert_int_equal(world.interval[OTHER], 100 * MS);
        sum += world.first[OTHER];
    }
    assert_int_equal(sum, 80 * world.left);
}

static void
registered_threads_have_events_of_their_own(void **state)
{
    (void)state;
    options.threads.number = OPTION_THREADS_REGISTERED;
    assert_int_equal(trigger_begin(&settings), 0);
    trigger_prepare(OTHER);
    trigger_enable();
    assert_false(world.has_event[OTHER]);
    assert_int_equal(world.young_cookie, 0);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_PERF);
    assert_true(world.has_event[OTHER] && world.is_asked_for_alone);
    world.perf_result = -EMFILE;
    assert_int_equal(trigger_of_thread(MAIN), TRIGGER_TIMER);
}

static void
after_a_stop_nothing_interrupts(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_TIMER), 0);
    trigger_stop();
    assert_false(world.has_event[MAIN] || world.has_timer[MAIN]);
    assert_int_equal(world.young_cookie, 0);
}

/* The main thread's event varies by itself; others have what they begin with.
 */
static void
a_change_of_the_rate_opens_new_events(void **state)
{
    (void)state;
    assert_int_equal(try_trigger(OPTION_TRIGGER_AUTO), 0);
    assert_int_equal(world.opened[OTHER], settings.period);
    trigger_pause();
    assert_false(world.has_event[MAIN] || world.has_event[OTHER]);
    assert_int_equal(world.young_cookie, 0);
    epoch_change(4 * settings.period, 1);
    trigger_resume(12345);
    assert_true(world.has_event[MAIN] && world.has_event[OTHER]);
    assert_int_equal(world.opened[MAIN], 4 * settings.period);
    assert_int_not_equal(world.opened[OTHER], 4 * settings.period);
    assert_in_range(world.opened[OTHER], 3 * settings.period,
                    5 * settings.period);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_PERF);
    assert_int_equal(world.young_cookie, cookie_make_own(COOKIE_TIMER));
    /* Without events timers go on. */
    trigger_pause();
    world.perf_result = -EMFILE;
    trigger_resume(1);
    assert_int_equal(trigger_of_thread(OTHER), TRIGGER_TIMER);
    assert_int_equal(world.interval[OTHER], 4 * settings.period);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(perf_is_the_first_choice, begin),
        cmocka_unit_test_setup(without_perf_timers_are_used, begin),
        cmocka_unit_test_setup(without_timers_threads_are_asked, begin),
        cmocka_unit_test_setup(at_the_end_a_tick_finds_threads, begin),
        cmocka_unit_test_setup(one_thread_without_a_timer_is_asked, begin),
        cmocka_unit_test_setup(a_trigger_asked_for_by_name_does_not_fall_back,
                               begin),
        cmocka_unit_test_setup(perf_is_not_opened_where_it_may_harm, begin),
        cmocka_unit_test_setup(a_thread_that_is_not_reached_gets_the_next_one,
                               begin),
        cmocka_unit_test_setup(
            a_thread_that_perf_reaches_after_all_loses_its_timer, begin),
        cmocka_unit_test_setup(timers_show_what_perf_does_not_see, begin),
        cmocka_unit_test_setup(the_program_gets_its_trap_back, begin),
        cmocka_unit_test_setup(timers_go_when_their_signal_moves, begin),
        cmocka_unit_test_setup(no_thread_is_interrupted_under_a_tracer, begin),
        cmocka_unit_test_setup(events_are_closed_while_threads_switch_often,
                               begin),
        cmocka_unit_test_setup(a_thread_with_a_timer_is_not_asked, begin),
        cmocka_unit_test_setup(what_is_drawn_anew_loses_no_point, begin),
        cmocka_unit_test_setup(registered_threads_have_events_of_their_own,
                               begin),
        cmocka_unit_test_setup(after_a_stop_nothing_interrupts, begin),
        cmocka_unit_test_setup(a_change_of_the_rate_opens_new_events, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
