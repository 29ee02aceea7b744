/* SPDX-License-Identifier: MIT */
/*
 * alternate_leave_test.c -- a thread that takes an alternate stack away waits
 * until our handler has left that stack, however long the handler is kept from
 * a CPU. It disturbs no thread that is elsewhere.
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
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/words.h"
#include "signals/alternate.h"
#include "signals/disposition.h"
#include "capture/handler.h"

#define SIZE (64u << 10)
#define THREADS 4u
#define REQUESTS 50   /* a number that no thread has */
#define LONG_US 10000 /* longer than any handler takes */
#define GIVEN_UP_NS 1000000000u

/* What the thread is at. */
static _Atomic bool has_begun, is_over, is_in_handler, was_in_handler;
static _Atomic bool is_left; /* the stack is about to be taken away */
static _Atomic pid_t tid;
static _Atomic int sleep_result;
static char *memory;

static void
leaving(enum signals_role role)
{
    (void)role;
}

static void
stay_in_handler(void)
{
    char here;
    assert_in_range((uintptr_t)&here, (uintptr_t)memory,
                    (uintptr_t)memory + SIZE);
    atomic_store(&is_in_handler, true);
    while (!atomic_load(&is_left))
        usleep(100);
    usleep(LONG_US);
    atomic_store(&was_in_handler, true);
    atomic_store(&is_in_handler, false);
}

/* A part of our handler. */
static bool
on_request(const siginfo_t *info)
{
    (void)info;
    stay_in_handler();
    return true;
}

/* The program's, which leaves our numbers open. It computes. */
static void
on_usr1(int signo)
{
    struct timespec start, now;
    (void)signo;
    atomic_store(&is_in_handler, true);
    while (!atomic_load(&is_left))
        ;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000 +
               (now.tv_nsec - start.tv_nsec) / 1000 <
           LONG_US);
    atomic_store(&was_in_handler, true);
    atomic_store(&is_in_handler, false);
}

static int
begin(void **state)
{
    static _Atomic uint32_t indexes[1];
    static const struct options none;
    static struct settings settings = {.options = &none, .signo = SIGPROF};
    const struct handler_options options = {.settings = &settings,
                                            .threads = THREADS,
                                            .index_of_tid = indexes,
                                            .tid_count = 0,
                                            .sigaction = sigaction,
                                            .next_sigaction = sigaction,
                                            .leaving = leaving,
                                            .request = on_request};
    struct sigaction action;
    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_usr1;
    action.sa_flags = SA_ONSTACK;
    phase_begin();
    settings.pid = getpid();
    words_begin();
    memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED || handler_begin(&options) != 0 ||
           disposition_borrow(SIGNALS_CONTROL, REQUESTS) != 0 ||
           sigaction(SIGUSR1, &action, NULL) != 0;
}

static int
end(void **state)
{
    (void)state;
    disposition_end();
    return munmap(memory, SIZE);
}

static void
begin_thread(void)
{
    stack_t stack = {.ss_sp = memory, .ss_size = SIZE};
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    alternate_note();
    atomic_store(&tid, gettid());
    atomic_store(&has_begun, true);
}

static void *
compute(void *unused)
{
    begin_thread();
    while (!atomic_load(&is_over))
        ;
    return unused;
}

static void *
sleep_on(void *unused)
{
    struct timespec time = {.tv_nsec = 50000000};
    int result = 0;
    begin_thread();
    while (result == 0 && !atomic_load(&is_over))
        result = nanosleep(&time, NULL);
    atomic_store(&sleep_result, result);
    return unused;
}

static pthread_t
start(void *(*function)(void *))
{
    pthread_t thread;
    atomic_store(&has_begun, false);
    atomic_store(&is_over, false);
    atomic_store(&was_in_handler, false);
    atomic_store(&is_left, false);
    assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
    while (!atomic_load(&has_begun))
        usleep(100);
    return thread;
}

static void
stop(pthread_t thread)
{
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* SIGNO is handled by THREAD from now on, until leave(). */
static void
enter_handler(pthread_t thread, int signo)
{
    assert_int_equal(pthread_kill(thread, signo), 0);
    while (!atomic_load(&is_in_handler))
        usleep(100);
}

/* Returns true when the handler is over; false after the time for which a
 * thread without a CPU is waited for. */
static bool
leave(void)
{
    uint64_t start = clock_now();
    atomic_store(&is_left, true);
    alternate_leave(memory, SIZE);
    bool is_over_now = atomic_load(&was_in_handler);
    bool is_given_up = clock_now() - start >= GIVEN_UP_NS;
    assert_true(is_over_now || is_given_up);
    return !is_given_up;
}

static void
a_handler_of_ours_is_waited_for(void **state)
{
    pthread_t thread = start(compute);
    (void)state;
    enter_handler(thread, REQUESTS);
    alternate_avoid();
    disposition_avoid_alternate();
    assert_true(alternate_is_in(memory, SIZE));
    /* The thread need not be asked again. */
    assert_false(leave() && alternate_is_in(memory, SIZE));
    stop(thread);
}

static void
a_handler_that_ours_may_interrupt_is_waited_for(void **state)
{
    pthread_t thread = start(compute);
    (void)state;
    enter_handler(thread, SIGUSR1);
    (void)leave();
    stop(thread);
}

/* The state of the thread, as /proc shows it. */
static char
thread_state(void)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&tid));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    const char *name_end = strrchr(line, ')');
    assert_non_null(name_end);
    return name_end[2];
}

static void
a_sleep_goes_on(void **state)
{
    pthread_t thread = start(sleep_on);
    (void)state;
    while (thread_state() != 'S')
        usleep(100);
    alternate_leave(memory, SIZE);
    stop(thread);
    assert_int_equal(atomic_load(&sleep_result), 0);
}

static void
a_thread_that_has_ended_holds_nothing(void **state)
{
    pthread_t thread = start(compute);
    (void)state;
    stop(thread);
    alternate_leave(memory, SIZE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_of_ours_is_waited_for),
        cmocka_unit_test(a_handler_that_ours_may_interrupt_is_waited_for),
        cmocka_unit_test(a_sleep_goes_on),
        cmocka_unit_test(a_thread_that_has_ended_holds_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
