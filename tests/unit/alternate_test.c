/* SPDX-License-Identifier: MIT */
/*
 * alternate_test.c -- which memory is an alternate stack, and which handlers
 * are set when such stacks are avoided. Once avoided, they stay so, so that
 * test comes last.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "signals/alternate.h"
#include "signals/handlers.h"

#define SIZE (64u << 10)
#define PAGE 4096u

static void
set_stack(char *memory)
{
    stack_t stack = {.ss_sp = memory,
                     .ss_size = SIZE,
                     .ss_flags = memory == NULL ? SS_DISABLE : 0};
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    alternate_note();
}

static char *
make_memory(void)
{
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static void
what_is_used_is_known(void **state)
{
    char *memory = make_memory();
    (void)state;
    assert_false(alternate_is_any());
    set_stack(memory);
    assert_true(alternate_is_any());
    assert_true(alternate_is_in(memory, SIZE));
    assert_true(alternate_is_in(memory + SIZE - PAGE, PAGE));
    assert_true(alternate_is_in(memory + SIZE - 1, 1));
    /* A guard page that the program made. */
    assert_false(alternate_is_in(memory, PAGE));
    assert_false(alternate_is_in(memory + SIZE, PAGE));
    assert_false(alternate_is_in(memory - PAGE, PAGE));
    set_stack(NULL);
    assert_false(alternate_is_in(memory, SIZE));
    munmap(memory, SIZE);
}

static void *
end_with_stack(void *memory)
{
    set_stack(memory);
    assert_true(alternate_is_in(memory, SIZE));
    return NULL;
}

static void
a_thread_that_has_ended_has_no_stack(void **state)
{
    char *memory = make_memory();
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, end_with_stack, memory), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    /* The kernel wakes the joining thread before the ended thread's number is
     * free. */
    for (int i = 0; i < 60000 && alternate_is_in(memory, SIZE); i++)
        usleep(1000);
    assert_false(alternate_is_in(memory, SIZE));
    munmap(memory, SIZE);
}

static void
on_signal(int signo)
{
    (void)signo;
}

static void
set_handler(int signo, int flags, uint64_t ours)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaddset(&action.sa_mask, SIGUSR1);
    assert_int_equal(handlers_action(signo, &action, NULL, ours, sigaction), 0);
}

/* The program sees what it set; the kernel has its handler IS_BARE, or ours in
 * front, and blocks MASK there. */
static void
expect(int signo, bool is_bare, uint64_t mask)
{
    struct sigaction action;
    assert_int_equal(handlers_action(signo, NULL, &action, 0, sigaction), 0);
    assert_ptr_equal(action.sa_handler, on_signal);
    assert_int_equal(action.sa_flags & SA_SIGINFO, 0);
    assert_int_equal(signals_word(&action.sa_mask), signals_bit(SIGUSR1));
    assert_int_equal(sigaction(signo, NULL, &action), 0);
    assert_int_equal(action.sa_handler == on_signal, is_bare);
    assert_int_equal((action.sa_flags & SA_SIGINFO) == 0, is_bare);
    assert_int_equal(signals_word(&action.sa_mask),
                     signals_bit(SIGUSR1) | mask);
}

static void
handlers_there_block_ours(void **state)
{
    uint64_t ours = signals_bit(SIGPROF) | signals_bit(SIGTRAP);
    (void)state;
    handlers_expect_threads(sigaction);
    set_handler(SIGUSR1, SA_ONSTACK, ours);
    set_handler(SIGUSR2, 0, ours);
    expect(SIGUSR1, false, 0);
    alternate_avoid();
    handlers_avoid_alternate(ours, 0, sigaction);
    expect(SIGUSR1, true, ours);
    expect(SIGUSR2, false, 0);
    set_handler(SIGHUP, SA_ONSTACK, ours);
    expect(SIGHUP, true, ours);
    /* A number that is given back is the program's. */
    handlers_block_again(signals_bit(SIGTRAP), sigaction);
    expect(SIGUSR1, true, signals_bit(SIGPROF));
    handlers_block_again(signals_bit(SIGPROF), sigaction);
    expect(SIGHUP, true, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_used_is_known),
        cmocka_unit_test(a_thread_that_has_ended_has_no_stack),
        cmocka_unit_test(handlers_there_block_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
