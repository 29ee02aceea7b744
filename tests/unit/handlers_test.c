/* SPDX-License-Identifier: MIT */
/*
 * handlers_test.c -- which handlers the program sees, and which the kernel has
 * in their place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/phase.h"
#include "signals/handlers.h"

static volatile sig_atomic_t calls, old_calls;

static void
with_info(int signo, siginfo_t *info, void *context)
{
    (void)context;
    calls += info->si_signo == signo && info->si_pid == getpid();
}

static void
without_info(int signo)
{
    old_calls += signo == SIGUSR2;
}

static struct sigaction
in_kernel(int signo)
{
    struct sigaction action;
    assert_int_equal(sigaction(signo, NULL, &action), 0);
    return action;
}

static struct sigaction
shown(int signo)
{
    struct sigaction action;
    assert_int_equal(handlers_action(signo, NULL, &action, 0, sigaction), 0);
    return action;
}

static int
set(int signo, struct sigaction action)
{
    return handlers_action(signo, &action, NULL, 0, sigaction);
}

/* Returns to a process with one thread and default actions. */
static int
begin_again(void **state)
{
    (void)state;
    handlers_end(sigaction);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
    calls = old_calls = 0;
    phase_begin();
    return 0;
}

static void
one_thread_has_its_own(void **state)
{
    (void)state;
    assert_int_equal(set(SIGUSR1, (struct sigaction){.sa_sigaction = with_info,
                                                     .sa_flags = SA_SIGINFO}),
                     0);
    assert_ptr_equal(in_kernel(SIGUSR1).sa_sigaction, with_info);
    assert_false(handlers_are_kept(SIGUSR1));
}

static void
threads_have_ours_in_front(void **state)
{
    (void)state;
    assert_int_equal(set(SIGUSR1, (struct sigaction){.sa_sigaction = with_info,
                                                     .sa_flags = SA_SIGINFO}),
                     0);
    handlers_expect_threads(sigaction);
    assert_int_equal(set(SIGUSR2, (struct sigaction){.sa_handler = without_info,
                                                     .sa_flags = SA_RESTART}),
                     0);
    assert_true(in_kernel(SIGUSR1).sa_sigaction != with_info);
    assert_true(in_kernel(SIGUSR2).sa_handler != without_info);
    assert_ptr_equal(shown(SIGUSR1).sa_sigaction, with_info);
    assert_ptr_equal(shown(SIGUSR2).sa_handler, without_info);
    assert_int_equal(shown(SIGUSR2).sa_flags & (SA_SIGINFO | SA_RESTART),
                     SA_RESTART);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    assert_int_equal(calls, 1);
    assert_int_equal(old_calls, 1);
}

static void
old_is_what_was(void **state)
{
    struct sigaction old, action = {.sa_handler = without_info};
    (void)state;
    handlers_expect_threads(sigaction);
    assert_int_equal(set(SIGUSR1, (struct sigaction){.sa_sigaction = with_info,
                                                     .sa_flags = SA_SIGINFO}),
                     0);
    assert_int_equal(handlers_action(SIGUSR1, &action, &old, 0, sigaction), 0);
    assert_ptr_equal(old.sa_sigaction, with_info);
    assert_int_equal(old.sa_flags & SA_SIGINFO, SA_SIGINFO);
    /* A caller that asked the kernel has kept our handler; it still means the
     * program's.
     */
    action = in_kernel(SIGUSR1);
    assert_int_equal(set(SIGUSR1, action), 0);
    assert_ptr_equal(shown(SIGUSR1).sa_handler, without_info);
}

static void
what_needs_no_handler_of_ours_is_left_alone(void **state)
{
    (void)state;
    handlers_expect_threads(sigaction);
    assert_int_equal(set(SIGUSR1,
                         (struct sigaction){.sa_handler = without_info,
                                            .sa_flags = (int)SA_RESETHAND}),
                     0);
    assert_ptr_equal(in_kernel(SIGUSR1).sa_handler, without_info);
    assert_int_equal(set(SIGUSR2, (struct sigaction){.sa_handler = SIG_IGN}),
                     0);
    assert_ptr_equal(in_kernel(SIGUSR2).sa_handler, SIG_IGN);
    assert_int_equal(set(SIGKILL, (struct sigaction){.sa_handler = SIG_IGN}),
                     -1);
}

static void
end_gives_back(void **state)
{
    (void)state;
    handlers_expect_threads(sigaction);
    assert_int_equal(set(SIGUSR2, (struct sigaction){.sa_handler = without_info,
                                                     .sa_flags = SA_RESTART}),
                     0);
    handlers_end(sigaction);
    assert_ptr_equal(in_kernel(SIGUSR2).sa_handler, without_info);
    assert_int_equal(in_kernel(SIGUSR2).sa_flags & SA_SIGINFO, 0);
}

static void
masks_read_as_they_were_set(void **state)
{
    uint64_t ours = signals_bit(SIGPROF);
    struct sigaction action = {.sa_handler = without_info}, old;
    (void)state;
    sigaddset(&action.sa_mask, SIGPROF);
    assert_int_equal(handlers_action(SIGUSR1, &action, NULL, ours, sigaction),
                     0);
    old = in_kernel(SIGUSR1);
    assert_int_equal(sigismember(&old.sa_mask, SIGPROF), 0);
    old = shown(SIGUSR1);
    assert_int_equal(sigismember(&old.sa_mask, SIGPROF), 1);
    handlers_block_again(ours, sigaction);
    old = in_kernel(SIGUSR1);
    assert_int_equal(sigismember(&old.sa_mask, SIGPROF), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_thread_has_its_own, begin_again),
        cmocka_unit_test_setup(threads_have_ours_in_front, begin_again),
        cmocka_unit_test_setup(old_is_what_was, begin_again),
        cmocka_unit_test_setup(what_needs_no_handler_of_ours_is_left_alone,
                               begin_again),
        cmocka_unit_test_setup(end_gives_back, begin_again),
        cmocka_unit_test_setup(masks_read_as_they_were_set, begin_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
