/* SPDX-License-Identifier: MIT */
/*
 * signals_test.c -- a number that is borrowed while the program has a handler
 * for it: SIGTRAP, on a busy machine, when the program was faster than the
 * sampler.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sys.h"
#include "capture/signals.h"

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

static int
begin(void **state)
{
    (void)state;
    signals_begin(own_handler, sigaction, sigaction, leaving);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    signals_end();
    return signal(SIGTRAP, SIG_DFL) == SIG_ERR;
}

static void
handle(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = program_handler;
    action.sa_flags = flags;
    assert_int_equal(signals_action(SIGTRAP, &action, NULL), 0);
}

/* Our handler is there, and interrupts system calls as FLAGS say. */
static void
expect_ours(int flags)
{
    struct sys_action now;
    assert_int_equal(sys_get_action(SIGTRAP, &now), 0);
    assert_ptr_equal(now.handler, own_handler);
    assert_int_equal(now.flags & SA_RESTART, flags & SA_RESTART);
}

static void
expect_program(int flags)
{
    struct sigaction action;
    assert_int_equal(signals_action(SIGTRAP, NULL, &action), 0);
    assert_ptr_equal(action.sa_handler, program_handler);
    assert_int_equal(action.sa_flags & SA_RESTART, flags & SA_RESTART);
}

static void
handler_of_before_interrupts_as_it_did(void **state)
{
    static const int flags[] = {0, SA_RESTART};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        handle(flags[i]);
        assert_int_equal(signals_borrow(SIGNALS_TRAP, SIGTRAP), 0);
        expect_ours(flags[i]);
        expect_program(flags[i]);
        signals_end();
        signals_begin(own_handler, sigaction, sigaction, leaving);
    }
}

static void
nobody_interrupts_without_a_handler(void **state)
{
    (void)state;
    assert_int_equal(signals_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    expect_ours(SA_RESTART);
}

/* Ours stands there already: it is not what the program wants. */
static void
borrowed_twice_is_the_programs_still(void **state)
{
    (void)state;
    assert_int_equal(signals_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    handle(0);
    assert_int_equal(signals_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    expect_ours(0);
    expect_program(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(handler_of_before_interrupts_as_it_did,
                                        begin, end),
        cmocka_unit_test_setup_teardown(nobody_interrupts_without_a_handler,
                                        begin, end),
        cmocka_unit_test_setup_teardown(borrowed_twice_is_the_programs_still,
                                        begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
