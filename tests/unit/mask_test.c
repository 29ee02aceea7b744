/* SPDX-License-Identifier: MIT */
/*
 * mask_test.c -- which of the borrowed numbers a thread really blocks, and what
 * the program sees: for masks that it sets, inherits, waits under, and hands to
 * another program.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "signals/disposition.h"
#include "signals/mask.h"
#include "signals/signals.h"

#define ASK SIGPROF
#define CONTROL 40
#define OTHER SIGUSR1

static void
own_handler(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)info, (void)context;
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
    words_begin();
    phase_begin();
    phase_set(PHASE_RUNNING);
    disposition_begin(own_handler, sigaction, sigaction, leaving, opened);
    int result = disposition_borrow(SIGNALS_ASK, ASK);
    result |= disposition_borrow(SIGNALS_CONTROL, CONTROL);
    mask_begin();
    return result;
}

static int
end(void **state)
{
    (void)state;
    mask_end();
    signals_blocked = signals_shut = 0;
    return (int)sys_mask(SIG_SETMASK, 0, NULL);
}

static uint64_t
real_mask(void)
{
    uint64_t mask = 0;
    assert_int_equal(sys_mask(SIG_BLOCK, 0, &mask), 0);
    return mask;
}

static bool
is_blocked(int signo)
{
    return (real_mask() & signals_bit(signo)) != 0;
}

/* Returns the mask before, as the program sees it. */
static uint64_t
change(int how, uint64_t word)
{
    sigset_t set, old;
    sigemptyset(&set);
    signals_set_word(&set, word);
    assert_int_equal(mask_change(how, &set, &old, pthread_sigmask), 0);
    return signals_word(&old);
}

static uint64_t
told(void)
{
    sigset_t old;
    assert_int_equal(mask_change(SIG_BLOCK, NULL, &old, pthread_sigmask), 0);
    return signals_word(&old);
}

static void
all_that_is_blocked_leaves_ours_open(void **state)
{
    (void)state;
    assert_int_equal(told(), 0);
    assert_int_equal(change(SIG_SETMASK, UINT64_MAX), 0);
    assert_false(is_blocked(ASK));
    assert_true(is_blocked(OTHER));
    assert_true(is_blocked(CONTROL));
    assert_true((told() & signals_bit(ASK)) != 0);
    assert_true((told() & signals_bit(CONTROL)) != 0);
    (void)change(SIG_UNBLOCK, signals_bit(ASK) | signals_bit(OTHER));
    assert_false((told() & signals_bit(ASK)) != 0);
    assert_false(is_blocked(OTHER));
    /* The closed number stays closed, whatever the program believes. */
    (void)change(SIG_SETMASK, 0);
    assert_true(is_blocked(CONTROL));
    assert_int_equal(told(), 0);
}

static void
what_is_named_becomes_the_programs(void **state)
{
    (void)state;
    assert_int_equal(signals_number(SIGNALS_ASK), ASK);
    (void)change(SIG_BLOCK, signals_bit(ASK));
    assert_int_not_equal(signals_number(SIGNALS_ASK), ASK);
    assert_true(is_blocked(ASK));
    assert_int_equal(told(), signals_bit(ASK));
    (void)change(SIG_BLOCK, signals_bit(CONTROL));
    assert_int_equal(signals_number(SIGNALS_CONTROL), 0);
    (void)change(SIG_UNBLOCK, signals_bit(CONTROL));
    assert_false(is_blocked(CONTROL));
}

static void
what_is_inherited_is_remembered(void **state)
{
    (void)state;
    signals_blocked = 0;
    assert_int_equal(sys_mask(SIG_BLOCK, signals_bit(ASK), NULL), 0);
    mask_begin();
    assert_false(is_blocked(ASK));
    assert_int_equal(told(), signals_bit(ASK));
}

static void
a_new_image_inherits_what_the_program_set(void **state)
{
    (void)state;
    (void)change(SIG_SETMASK, UINT64_MAX & ~signals_bit(CONTROL));
    mask_before_exec();
    assert_true(is_blocked(ASK));
    assert_false(is_blocked(CONTROL));
    mask_after_failed_exec();
    assert_false(is_blocked(ASK));
    assert_true(is_blocked(CONTROL));
}

static void
a_new_thread_is_told_what_its_maker_blocks(void **state)
{
    struct mask_birth birth = {.has_mask = false};
    (void)state;
    (void)change(SIG_SETMASK, UINT64_MAX);
    mask_before_birth(&birth);
    assert_true(is_blocked(ASK));
    signals_blocked = signals_shut = 0;
    mask_begin_thread(&birth);
    assert_false(is_blocked(ASK));
    assert_true((told() & signals_bit(ASK)) != 0);
    mask_after_birth();
}

static void
a_wait_is_under_its_own_mask(void **state)
{
    struct mask_wait before;
    sigset_t set;
    (void)state;
    (void)change(SIG_SETMASK, UINT64_MAX);
    sigemptyset(&set);
    sigaddset(&set, OTHER);
    const sigset_t *really = mask_enter_wait(&set, &before);
    assert_int_equal(signals_word(really),
                     signals_bit(OTHER) | signals_bit(CONTROL));
    assert_int_equal(signals_blocked, 0);
    mask_leave_wait(&before);
    assert_true((signals_blocked & signals_bit(ASK)) != 0);
}

/* The program handles the number, blocks it, and waits for it. */
static void
a_wait_for_a_handled_number_takes_it(void **state)
{
    const struct sigaction action = {.sa_handler = program_handler};
    struct mask_wait before;
    sigset_t none;
    (void)state;
    assert_int_equal(disposition_borrow(SIGNALS_TRAP, SIGTRAP), 0);
    assert_int_equal(disposition_action(SIGTRAP, &action, NULL), 0);
    (void)change(SIG_SETMASK, UINT64_MAX);
    /* The number is the program's since the program handles it. */
    assert_true(is_blocked(SIGTRAP));
    sigemptyset(&none);
    (void)mask_enter_wait(&none, &before);
    mask_leave_wait(&before);
    assert_true(is_blocked(SIGTRAP));
    assert_int_equal(signals_number(SIGNALS_TRAP), 0);
    (void)change(SIG_SETMASK, 0);
    assert_int_equal(signal(SIGTRAP, SIG_DFL) == SIG_ERR, 0);
}

static void
a_wait_for_all_takes_the_usual_number_alone(void **state)
{
    sigset_t all, rest;
    (void)state;
    sigfillset(&all);
    mask_take_interest(&all, &rest);
    assert_true(sigismember(&rest, ASK));
    assert_int_equal(signals_number(SIGNALS_CONTROL), CONTROL);
    assert_false(sigismember(&rest, CONTROL));
    assert_false(sigismember(&rest, signals_number(SIGNALS_ASK)));
}

static void
a_number_given_back_is_blocked_for_real(void **state)
{
    ucontext_t context = {.uc_link = NULL};
    (void)state;
    (void)change(SIG_SETMASK, UINT64_MAX);
    assert_true(disposition_give_back(ASK));
    assert_false(signals_are_synced());
    signals_sync_in(&context);
    assert_int_equal(signals_word(&context.uc_sigmask), signals_bit(ASK));
    assert_true(signals_are_synced());
    assert_false(is_blocked(ASK));
    assert_true(disposition_give_back(signals_number(SIGNALS_ASK)));
    signals_sync_now();
    assert_true(signals_are_synced());
}

static void
a_closed_number_is_opened_once_it_is_given_back(void **state)
{
    (void)state;
    (void)change(SIG_SETMASK, 0);
    assert_true(is_blocked(CONTROL));
    assert_false(signals_has_opened(sys_gettid()));
    disposition_release(SIGNALS_CONTROL);
    assert_false(is_blocked(CONTROL));
    assert_true(signals_has_opened(sys_gettid()));
    assert_true((signals_opened() & signals_bit(CONTROL)) != 0);
}

int
main(void)
{
#define UNIT(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        /* First: what a thread has opened is never forgotten. */
        UNIT(a_closed_number_is_opened_once_it_is_given_back),
        UNIT(all_that_is_blocked_leaves_ours_open),
        UNIT(what_is_named_becomes_the_programs),
        UNIT(what_is_inherited_is_remembered),
        UNIT(a_new_image_inherits_what_the_program_set),
        UNIT(a_new_thread_is_told_what_its_maker_blocks),
        UNIT(a_wait_is_under_its_own_mask),
        UNIT(a_wait_for_a_handled_number_takes_it),
        UNIT(a_wait_for_all_takes_the_usual_number_alone),
        UNIT(a_number_given_back_is_blocked_for_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
