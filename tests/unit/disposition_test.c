/* SPDX-License-Identifier: MIT */
/*
 * disposition_test.c -- a number that is borrowed while the program has a
 * handler for it: SIGTRAP, on a busy machine, when the program was faster than
 * the sampler; what a program inherits that one thread starts while another
 * changes the disposition; and two threads that change it at once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/phase.h"
#include "base/sys.h"
#include "signals/disposition.h"

static void
own_handler(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    (void)context;
}

static void
program_handler(int signo)
{
    (void)signo;
}

static void
leaving(enum signals_role role)
{
    (void)role;
}

static void
opened(void)
{
}

static int
begin(void **state)
{
    (void)state;
    disposition_begin(own_handler, sigaction, sigaction, leaving, opened);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    disposition_end();
    return signal(SIGTRAP, SIG_DFL) == SIG_ERR;
}

static void
handle(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = program_handler;
    action.sa_flags = flags;
    assert_int_equal(disposition_action(SIGTRAP, &action, NULL), 0);
}

/* Our handler is there, on the alternate stack as FLAGS say, and interrupts no
 * system call. */
static void
expect_ours(int flags)
{
    struct sys_action now;
    assert_int_equal(sys_get_action(SIGTRAP, &now), 0);
    assert_ptr_equal(now.handler, own_handler);
    assert_int_equal(now.flags & SA_RESTART, SA_RESTART);
    assert_int_equal(now.flags & SA_ONSTACK, flags & SA_ONSTACK);
}

static void
expect_program(int flags)
{
    struct sigaction action;
    assert_int_equal(disposition_action(SIGTRAP, NULL, &action), 0);
    assert_ptr_equal(action.sa_handler, program_handler);
    assert_int_equal(action.sa_flags & (SA_RESTART | SA_ONSTACK), flags);
}

static void
handler_of_before_has_its_flags(void **state)
{
    static const int flags[] = {0, SA_RESTART, SA_ONSTACK};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        handle(flags[i]);
        assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
        expect_ours(flags[i]);
        expect_program(flags[i]);
        disposition_end();
        disposition_begin(own_handler, sigaction, sigaction, leaving, opened);
    }
}

static void
ours_is_on_the_other_stack_without_a_handler(void **state)
{
    (void)state;
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    expect_ours(SA_ONSTACK);
}

/* Ours stands there already: it is not what the program wants. */
static void
borrowed_twice_is_the_programs_still(void **state)
{
    (void)state;
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    handle(0);
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    expect_ours(0);
    expect_program(0);
}

static void
ignore(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    assert_int_equal(disposition_action(SIGTRAP, &action, NULL), 0);
}

static bool
is_ignored_for_real(void)
{
    struct sys_action now;
    return sys_get_action(SIGTRAP, &now) == 0 && now.handler == (void *)SIG_IGN;
}

static bool is_handler_seen;

/* sigaction(2), which sees whether it lets SIGTRAP be handled. */
static int
watched_sigaction(int signo, const struct sigaction *action,
                  struct sigaction *old)
{
    if (signo == SIGTRAP && action != NULL && action->sa_handler != SIG_IGN)
        is_handler_seen = true;
    return sigaction(signo, action, old);
}

/* The other thread may be at its exec at any instant of it. */
static void
ignored_stays_so_while_a_program_is_started(void **state)
{
    (void)state;
    disposition_begin(own_handler, watched_sigaction, sigaction, leaving,
                      opened);
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    disposition_before_exec(true);
    ignore();
    assert_true(is_ignored_for_real());
    is_handler_seen = false;
    ignore();
    assert_false(is_handler_seen);
    disposition_after_failed_exec();
    expect_ours(SA_ONSTACK);
}

static pthread_t starter;
static _Atomic bool is_begun, is_inherited;
static _Atomic pid_t starter_tid; /* 0: not running yet */

/* Whether that thread is in futex(2): it waits for the change to end. */
static bool
starter_waits(void)
{
    char path[64], line[64];
    pid_t tid = atomic_load(&starter_tid);
    if (tid == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
    return sys_read_file(path, line, sizeof(line)) > 0 &&
           strtol(line, NULL, 10) == SYS_futex;
}

/* About to start a program for a while: at any instant of it SIGTRAP is ignored
 * for real. */
static void *
start_program(void *unused)
{
    bool result = true;
    atomic_store(&starter_tid, gettid());
    disposition_before_exec(true);
    for (int i = 0; i < 100; i++) {
        result = result && is_ignored_for_real();
        usleep(100);
    }
    atomic_store(&is_inherited, result);
    disposition_after_failed_exec();
    return unused;
}

/* When SIGTRAP is about to be handled again, another thread is about to start a
 * program; and it is so for a while. */
static int
late_sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    bool is_late =
        signo == SIGTRAP && action != NULL && !atomic_exchange(&is_begun, true);
    if (is_late) {
        assert_int_equal(pthread_create(&starter, NULL, start_program, NULL),
                         0);
        bool waits = false;
        for (int i = 0; i < 600000 && !waits; i++) {
            usleep(100);
            waits = starter_waits();
        }
        assert_true(waits);
    }
    int result = sigaction(signo, action, old);
    if (is_late)
        usleep(5000);
    return result;
}

static void
one_that_begins_meanwhile_waits(void **state)
{
    (void)state;
    disposition_begin(own_handler, late_sigaction, sigaction, leaving, opened);
    atomic_store(&is_begun, true);
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    ignore();
    disposition_before_exec(true);
    atomic_store(&is_begun, false);
    disposition_after_failed_exec();
    assert_true(atomic_load(&is_begun));
    assert_int_equal(pthread_join(starter, NULL), 0);
    assert_true(atomic_load(&is_inherited));
    expect_ours(SA_ONSTACK);
}

static pthread_t changer;

static void *
give_back(void *unused)
{
    assert_true(disposition_give_back(SIGTRAP));
    return unused;
}

static _Atomic bool may_leave, is_leaving;

static void
leave_slowly(enum signals_role role)
{
    (void)role;
    atomic_store(&is_leaving, true);
    while (!atomic_load(&may_leave))
        usleep(100);
}

static void
what_is_being_given_back_is_inherited(void **state)
{
    (void)state;
    disposition_begin(own_handler, sigaction, sigaction, leave_slowly, opened);
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    ignore();
    assert_int_equal(pthread_create(&changer, NULL, give_back, NULL), 0);
    while (!atomic_load(&is_leaving))
        usleep(100);
    disposition_before_exec(true);
    bool is_right = is_ignored_for_real();
    atomic_store(&may_leave, true);
    assert_int_equal(pthread_join(changer, NULL), 0);
    disposition_after_failed_exec();
    assert_true(is_right);
    assert_true(is_ignored_for_real());
}

/* How often each of SETTERS threads sets a disposition. */
#define SETTERS 2u
#define SETTINGS 200000u

static _Atomic uint64_t replaced; /* sum of the numbers of those replaced */
static _Atomic unsigned setting;  /* threads that began, and that ended */

/* A disposition whose handler and mask hold the same number. */
static struct sigaction
numbered(uint64_t number)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = (__sighandler_t)(number << 24);
    signals_set_word(&action.sa_mask, number << 24);
    return action;
}

/* The number of ACTION; UINT64_MAX if it is a mixture of two. */
static uint64_t
number_of(const struct sigaction *action)
{
    uint64_t word = (uint64_t)action->sa_handler;
    return word == signals_word(&action->sa_mask) ? word >> 24 : UINT64_MAX;
}

static void *
set_often(void *first)
{
    uint64_t sum = 0;
    atomic_fetch_add(&setting, 1);
    while (atomic_load(&setting) < SETTERS)
        ;
    for (uint64_t i = 0; i < SETTINGS; i++) {
        struct sigaction old, action = numbered((uint64_t)first + i);
        disposition_action(SIGTRAP, &action, &old);
        sum += number_of(&old);
    }
    atomic_fetch_add(&replaced, sum);
    atomic_fetch_add(&setting, 1);
    return NULL;
}

/* A handler reads it meanwhile, and each thread learns the one before. */
static void
set_by_two_at_once_is_one_of_them(void **state)
{
    pthread_t setters[SETTERS];
    struct sigaction action = numbered(0);
    uint64_t sum = 0;
    bool is_whole = true;
    (void)state;
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    disposition_action(SIGTRAP, &action, NULL);
    atomic_store(&replaced, 0);
    atomic_store(&setting, 0);
    for (uint64_t i = 0; i < SETTERS; i++) {
        uint64_t first = 1 + i * SETTINGS;
        sum += SETTINGS * first + SETTINGS * (SETTINGS - 1ull) / 2;
        assert_int_equal(pthread_create(&setters[i], NULL, set_often,
                                        (void *)first),
                         0);
    }
    while (atomic_load(&setting) < 2 * SETTERS) {
        assert_true(disposition_get_program(SIGTRAP, &action));
        is_whole = is_whole && number_of(&action) != UINT64_MAX;
    }
    for (unsigned i = 0; i < SETTERS; i++)
        assert_int_equal(pthread_join(setters[i], NULL), 0);
    assert_true(is_whole);
    assert_true(disposition_get_program(SIGTRAP, &action));
    assert_int_equal(atomic_load(&replaced) + number_of(&action), sum);
}

/* sigaction(2) that is slow for the first thread that sets a handler on the
 * alternate stack: another sets one that is not meanwhile. */
static int
overtaken_sigaction(int signo, const struct sigaction *action,
                    struct sigaction *old)
{
    bool is_slow = signo == SIGTRAP && action != NULL &&
                   (action->sa_flags & SA_ONSTACK) != 0 &&
                   !atomic_exchange(&is_begun, true);
    if (is_slow)
        handle(0);
    return sigaction(signo, action, old);
}

/* The kernel has the disposition that was set last. */
static void
one_set_during_another_stands(void **state)
{
    struct sys_action now;
    (void)state;
    disposition_begin(own_handler, overtaken_sigaction, sigaction, leaving,
                      opened);
    atomic_store(&is_begun, true);
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    handle(0);
    atomic_store(&is_begun, false);
    handle(SA_ONSTACK);
    assert_true(atomic_load(&is_begun));
    expect_program(0);
    assert_int_equal(sys_get_action(SIGTRAP, &now), 0);
    assert_ptr_equal(now.handler, own_handler);
    assert_int_equal(now.flags & SA_ONSTACK, 0);
}

static void
ending_handler(int signo, siginfo_t *info, void *context)
{
    own_handler(signo, info, context);
}

static void *
handler_in_kernel(int signo)
{
    struct sys_action now;
    assert_int_equal(sys_get_action(signo, &now), 0);
    return now.handler;
}

static struct sigaction
change(int signo, __sighandler_t wanted)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof(action));
    action.sa_handler = wanted;
    assert_int_equal(disposition_action(signo, &action, &old), 0);
    return old;
}

/* The ender comes back only while the process is sampled. */
static int
begin_running(void **state)
{
    phase_begin();
    phase_set(PHASE_RUNNING);
    return begin(state);
}

static void
ender_is_there_for_the_default_alone(void **state)
{
    const struct sigaction ender = {.sa_sigaction = ending_handler};
    (void)state;
    disposition_begin_enders(signals_bit(SIGTERM), 0, ending_handler);
    assert_true(disposition_has_ender(SIGTERM));
    assert_int_equal(disposition_role(SIGTERM), SIGNALS_ENDING);
    assert_ptr_equal(change(SIGTERM, program_handler).sa_handler, SIG_DFL);
    assert_ptr_equal(handler_in_kernel(SIGTERM), program_handler);
    assert_false(disposition_has_ender(SIGTERM));
    assert_ptr_equal(change(SIGTERM, SIG_IGN).sa_handler, program_handler);
    assert_ptr_equal(handler_in_kernel(SIGTERM), SIG_IGN);
    assert_ptr_equal(change(SIGTERM, SIG_DFL).sa_handler, SIG_IGN);
    assert_ptr_equal(handler_in_kernel(SIGTERM), ending_handler);
    /* The ender as the program got it from an old function of libc. */
    assert_int_equal(disposition_action(SIGTERM, &ender, NULL), 0);
    assert_ptr_equal(change(SIGTERM, SIG_DFL).sa_handler, SIG_DFL);
    disposition_end_enders();
    assert_ptr_equal(handler_in_kernel(SIGTERM), SIG_DFL);
    assert_int_equal(disposition_role(SIGTERM), SIGNALS_NONE);
}

/* SIGTRAP, which perf may get after SPROF_DUMP_ON has named it. */
static void
borrowed_has_no_ender(void **state)
{
    (void)state;
    disposition_begin_enders(0, signals_bit(SIGTRAP), ending_handler);
    assert_true(disposition_has_ender(SIGTRAP));
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    expect_ours(SA_ONSTACK);
    assert_false(disposition_has_ender(SIGTRAP));
    disposition_begin_enders(0, signals_bit(SIGTRAP), ending_handler);
    assert_int_equal(disposition_role(SIGTRAP), SIGNALS_TRAP);
    /* A handler shows that the program uses the signal. */
    assert_ptr_equal(change(SIGTRAP, program_handler).sa_handler, SIG_DFL);
    assert_int_equal(signals_number(SIGNALS_TRAP), 0);
}

static void
end_has_neither(void **state)
{
    (void)state;
    disposition_begin_enders(signals_bit(SIGTERM), 0, ending_handler);
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    disposition_end();
    assert_ptr_equal(handler_in_kernel(SIGTERM), SIG_DFL);
    assert_ptr_equal(handler_in_kernel(SIGTRAP), SIG_DFL);
}

/* Let the program handle all numbers that may be borrowed, but KEPT. */
static void
handle_all_but(int kept, sighandler_t handler)
{
    for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        if (signo != kept)
            assert_int_equal(disposition_action(signo, &action, NULL), 0);
    }
}

/* A program takes the number by which questions are asked. Another one, for
 * which there was no use before, has become free since the last search. */
static void
questions_take_a_number_that_has_become_free(void **state)
{
    enum { ASKED_BY = 60, FREE = 45 };
    struct sigaction action;
    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    handle_all_but(ASKED_BY, program_handler);
    assert_int_equal(disposition_borrow(SIGNALS_ASK, ASKED_BY), 0);
    assert_int_equal(signals_number(SIGNALS_SPARE), 0);
    assert_int_equal(disposition_action(FREE, &action, NULL), 0);
    assert_true(disposition_give_back(ASKED_BY));
    assert_int_equal(signals_number(SIGNALS_ASK), FREE);
    handle_all_but(0, SIG_DFL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(handler_of_before_has_its_flags, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            ours_is_on_the_other_stack_without_a_handler, begin, end),
        cmocka_unit_test_setup_teardown(borrowed_twice_is_the_programs_still,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            ignored_stays_so_while_a_program_is_started, begin, end),
        cmocka_unit_test_setup_teardown(one_that_begins_meanwhile_waits, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_is_being_given_back_is_inherited,
                                        begin, end),
        cmocka_unit_test_setup_teardown(set_by_two_at_once_is_one_of_them,
                                        begin, end),
        cmocka_unit_test_setup_teardown(one_set_during_another_stands, begin,
                                        end),
        cmocka_unit_test_setup_teardown(ender_is_there_for_the_default_alone,
                                        begin_running, end),
        cmocka_unit_test_setup_teardown(borrowed_has_no_ender, begin_running,
                                        end),
        cmocka_unit_test_setup_teardown(end_has_neither, begin_running, end),
        cmocka_unit_test_setup_teardown(
            questions_take_a_number_that_has_become_free, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
