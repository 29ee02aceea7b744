/* SPDX-License-Identifier: MIT */
/*
 * stray_test.c -- what another thread finds out about a main thread that seems
 * to block all signals, as it does in our handler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/phase.h"
#include "signals/signals.h"
#include "signals/stray.h"

/* A machine with other work may let the main thread come too late. */
#define ATTEMPTS 100

static _Atomic pid_t asker;
static _Atomic bool may_ask, has_answer;
static bool is_taken;

static void
block(uint64_t mask)
{
    assert_int_equal(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL,
                             sizeof mask),
                     0);
}

static int
begin_again(void **state)
{
    (void)state;
    phase_begin();
    asker = 0;
    may_ask = has_answer = false;
    block(UINT64_MAX);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    block(0);
    return 0;
}

static void *
ask(void *unused)
{
    while (!may_ask)
        usleep(100);
    asker = (pid_t)syscall(SYS_gettid);
    is_taken = stray_is_taken_by_main(SIGUSR1);
    has_answer = true;
    return unused;
}

/* Make a thread that asks; libc blocks all signals until it is made. */
static pthread_t
begin_to_ask(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    may_ask = true;
    return thread;
}

/* Whether the thread that asks has had to wait; else it has its answer. */
static bool
wait_until_it_waits(void)
{
    char path[64], line[256];
    while (!has_answer) {
        FILE *file;
        const char *state = NULL;
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)asker);
        file = asker != 0 ? fopen(path, "r") : NULL;
        if (file != NULL && fgets(line, sizeof line, file) != NULL)
            state = strrchr(line, ')');
        if (file != NULL)
            fclose(file);
        if (state != NULL && state[2] == 'S')
            return true;
        usleep(100);
    }
    return false;
}

static bool
is_taken_by_main(void)
{
    may_ask = false;
    pthread_join(begin_to_ask(), NULL);
    return is_taken;
}

/* A handler of the program, which blocked SIGUSR1, was interrupted, and has
 * returned. The next visit of our handler has begun, and its note is not there
 * yet. */
static void
an_old_note_is_not_believed(void **state)
{
    bool has_waited = false;
    is_taken = false;
    for (int i = 0; i < ATTEMPTS && !is_taken; i++) {
        (void)begin_again(state);
        stray_note_mask(signals_bit(SIGUSR1));
        stray_end_note();
        pthread_t thread = begin_to_ask();
        has_waited |= wait_until_it_waits();
        stray_note_mask(0);
        pthread_join(thread, NULL);
    }
    assert_true(has_waited);
    assert_true(is_taken);
}

static void
a_note_of_this_visit_is(void **state)
{
    (void)state;
    stray_note_mask(signals_bit(SIGUSR1));
    assert_false(is_taken_by_main());
    stray_note_mask(signals_bit(SIGUSR2));
    assert_true(is_taken_by_main());
}

/* Nothing was noted that blocks it, so nothing has to be awaited. */
static void
an_open_signal_is_taken(void **state)
{
    (void)state;
    stray_note_mask(0);
    stray_end_note();
    assert_true(is_taken_by_main());
}

/* The program did it and goes on like that: there is no second wait. */
static void
a_thread_may_block_all(void **state)
{
    (void)state;
    stray_note_mask(signals_bit(SIGUSR1));
    stray_end_note();
    assert_true(stray_noted_mask() != signals_bit(SIGUSR1));
    assert_false(is_taken_by_main());
    assert_true(stray_noted_mask() == signals_bit(SIGUSR1));
}

static void
what_the_kernel_shows_is_believed(void **state)
{
    (void)state;
    stray_note_mask(0);
    block(signals_bit(SIGUSR1));
    assert_false(is_taken_by_main());
    stray_note_mask(signals_bit(SIGUSR1));
    block(0);
    assert_true(is_taken_by_main());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_again, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_old_note_is_not_believed),       TEST(a_note_of_this_visit_is),
        TEST(an_open_signal_is_taken),           TEST(a_thread_may_block_all),
        TEST(what_the_kernel_shows_is_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
