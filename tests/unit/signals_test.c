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
    assert_int_equal(signals_action(SIGTRAP, NULL, &action), 0);
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
        assert_int_equal(signals_borrow(SIGNALS_TRAP, SIGTRAP), 0);
        expect_ours(flags[i]);
        expect_program(flags[i]);
        signals_end();
        signals_begin(own_handler, sigaction, sigaction, leaving);
    }
}

static void
ours_is_on_the_other_stack_without_a_handler(void **state)
{
    (void)state;
    assert_int_equal(signals_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    expect_ours(SA_ONSTACK);
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
        cmocka_unit_test_setup_teardown(handler_of_before_has_its_flags, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            ours_is_on_the_other_stack_without_a_handler, begin, end),
        cmocka_unit_test_setup_teardown(borrowed_twice_is_the_programs_still,
                                        begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
