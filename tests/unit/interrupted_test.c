/* SPDX-License-Identifier: MIT */
/*
 * interrupted_test.c -- what our handler returns to while a signal for the
 * program is pending: SIGUSR1, which this thread blocks.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "signals/restart.h"
#include "signals/signals.h"

#define WAIT_STACK 0x7fff00001000ull
#define USR1 signals_bit(SIGUSR1)

/* Where a system call, at code + 4, is to be made again. */
static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x0f, 0x05, 0xc3};

static void
ignore(int signo)
{
    (void)signo;
}

static int
send_blocked(void **state)
{
    struct sigaction action;
    sigset_t set;
    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = ignore;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return sigaction(SIGUSR1, &action, NULL) != 0 ||
           pthread_sigmask(SIG_BLOCK, &set, NULL) != 0 || raise(SIGUSR1) != 0;
}

static int
take_it(void **state)
{
    sigset_t set;
    int signo;
    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return sigwait(&set, &signo);
}

/* A wait under a mask that lets all come, ended by two signals. */
static void
begin_wait(ucontext_t *context)
{
    struct restart_wait wait = {.is_on = true, .stack = WAIT_STACK};
    restart_wait = wait;
    memset(context, 0, sizeof *context);
    context->uc_mcontext.gregs[REG_RAX] = -EINTR;
    context->uc_mcontext.gregs[REG_RSP] = WAIT_STACK - 64;
    signals_set_word(&context->uc_sigmask, USR1);
}

static void
expect_untouched(const ucontext_t *context)
{
    assert_false(restart_wait.is_left);
    assert_int_equal(signals_word(&context->uc_sigmask), USR1);
}

static void
mask_of_wait_stands(void **state)
{
    ucontext_t context;
    (void)state;
    begin_wait(&context);
    restart_after_ours(&context);
    assert_true(restart_wait.is_left);
    assert_int_equal(restart_wait.original, USR1);
    assert_int_equal(signals_word(&context.uc_sigmask), 0);
}

static void
second_of_ours_forgets_nothing(void **state)
{
    ucontext_t context;
    (void)state;
    begin_wait(&context);
    restart_after_ours(&context);
    restart_after_ours(&context);
    assert_int_equal(restart_wait.original, USR1);
    assert_int_equal(signals_word(&context.uc_sigmask), 0);
}

/* A handler that came in the wait has made a system call that was ended. */
static void
handler_in_wait_keeps_its_mask(void **state)
{
    ucontext_t context;
    (void)state;
    begin_wait(&context);
    context.uc_mcontext.gregs[REG_RSP] = WAIT_STACK - 2048;
    restart_after_ours(&context);
    expect_untouched(&context);
}

/* siglongjmp left the wait. */
static void
wait_that_was_left_is_over(void **state)
{
    ucontext_t context;
    (void)state;
    begin_wait(&context);
    context.uc_mcontext.gregs[REG_RSP] = WAIT_STACK + 64;
    restart_after_ours(&context);
    expect_untouched(&context);
}

static void
begin_call(ucontext_t *context, long call)
{
    struct restart_wait none = {.is_on = false};
    greg_t *registers = context->uc_mcontext.gregs;
    restart_wait = none;
    memset(context, 0, sizeof *context);
    registers[REG_RAX] = call;
    registers[REG_RIP] = (greg_t)(uintptr_t)(code + 4);
    registers[REG_RCX] = (greg_t)(uintptr_t)(code + 6);
}

static void
call_ends_for_the_program(void **state)
{
    ucontext_t context;
    (void)state;
    begin_call(&context, SYS_read);
    restart_after_ours(&context);
    assert_int_equal(context.uc_mcontext.gregs[REG_RAX], -EINTR);
    assert_int_equal(context.uc_mcontext.gregs[REG_RIP], (uintptr_t)(code + 6));
}

/* A thread that blocks the signal is not interrupted by it; a fork is
 * interrupted by none. */
static void
call_goes_on(void **state)
{
    ucontext_t context;
    (void)state;
    begin_call(&context, SYS_read);
    signals_set_word(&context.uc_sigmask, USR1);
    restart_after_ours(&context);
    assert_int_equal(context.uc_mcontext.gregs[REG_RAX], SYS_read);
    begin_call(&context, SYS_clone);
    restart_after_ours(&context);
    assert_int_equal(context.uc_mcontext.gregs[REG_RAX], SYS_clone);
    assert_int_equal(context.uc_mcontext.gregs[REG_RIP], (uintptr_t)(code + 4));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mask_of_wait_stands),
        cmocka_unit_test(second_of_ours_forgets_nothing),
        cmocka_unit_test(handler_in_wait_keeps_its_mask),
        cmocka_unit_test(wait_that_was_left_is_over),
        cmocka_unit_test(call_ends_for_the_program),
        cmocka_unit_test(call_goes_on),
    };
    return cmocka_run_group_tests(tests, send_blocked, take_it);
}
