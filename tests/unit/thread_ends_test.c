/* SPDX-License-Identifier: MIT */
/*
 * thread_ends_test.c -- the ring through which threads report their ends. Real
 * threads end; one of them stops between the claim of its entry and the entry
 * itself, where it reads its clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <semaphore.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/state.h"
#include "libc/real.h"
#include "sampling/thread_ends.h"

uint64_t __real_clock_own(void);
uint64_t __wrap_clock_own(void);

static sem_t has_claimed, may_write;
static __thread bool stops;

uint64_t
__wrap_clock_own(void)
{
    if (stops) {
        sem_post(&has_claimed);
        sem_wait(&may_write);
    }
    return __real_clock_own();
}

static void
exit_main(void)
{
}

static int
begin(void **state)
{
    (void)state;
    state_renew_profile();
    real_begin();
    phase_begin();
    phase_set(PHASE_RUNNING);
    sem_init(&has_claimed, 0, 0);
    sem_init(&may_write, 0, 0);
    thread_ends_begin(exit_main);
    return 0;
}

/* Each test begins with an empty ring. */
static int
empty(void **state)
{
    (void)state;
    thread_ends_reset();
    return 0;
}

static void *
run(void *argument)
{
    const char *name = argument;
    pthread_setname_np(pthread_self(), name);
    stops = name[0] == 's';
    return NULL;
}

/* A thread that has NAME; with an "s" in front it stops at its end. */
static pthread_t
start(const char *name)
{
    pthread_t thread;
    assert_int_equal(thread_ends_create(&thread, NULL, run,
                                        (void *)(uintptr_t)name),
                     0);
    return thread;
}

static void
end(const char *name)
{
    assert_int_equal(pthread_join(start(name), NULL), 0);
}

static pthread_t
stop_at_end(const char *name)
{
    pthread_t thread = start(name);
    sem_wait(&has_claimed);
    return thread;
}

static void
go_on(pthread_t thread)
{
    sem_post(&may_write);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* What the sampler reads at one visit: the names, in order. */
static void
expect_visit(const char *names)
{
    uint64_t reported = thread_ends_reported();
    struct thread_end ended;
    char text[64] = "";
    while (thread_ends_next_end(reported, &ended)) {
        assert_true(ended.time >= ended.start && ended.start != 0);
        strcat(strcat(text, text[0] != '\0' ? " " : ""), ended.name);
    }
    assert_string_equal(text, names);
}

static void
ends_are_read_once_in_their_order(void **state)
{
    (void)state;
    expect_visit("");
    end("a");
    end("b");
    expect_visit("a b");
    assert_int_equal(thread_ends_reported(), 0);
    end("c");
    expect_visit("c");
}

/* A visit reads the ends that were there at its begin. */
static void
an_end_during_a_visit_is_for_the_next(void **state)
{
    (void)state;
    struct thread_end ended;
    end("a");
    uint64_t reported = thread_ends_reported();
    end("b");
    assert_true(thread_ends_next_end(reported, &ended));
    assert_string_equal(ended.name, "a");
    assert_false(thread_ends_next_end(reported, &ended));
    expect_visit("b");
}

/* Those after it would count twice if they were read later. */
static void
an_unwritten_end_keeps_no_other_back(void **state)
{
    (void)state;
    end("a");
    pthread_t slow = stop_at_end("slow");
    end("b");
    end("c");
    expect_visit("a b c");
    expect_visit("");
    assert_int_not_equal(thread_ends_reported(), 0);
    end("d");
    expect_visit("d");
    go_on(slow);
    end("e");
    expect_visit("slow e");
    assert_int_equal(thread_ends_reported(), 0);
}

static void
two_unwritten_ends_are_read_when_each_is_written(void **state)
{
    (void)state;
    pthread_t first = stop_at_end("slow");
    end("a");
    pthread_t second = stop_at_end("slower");
    end("b");
    expect_visit("a b");
    sem_post(&may_write);
    sem_post(&may_write);
    assert_int_equal(pthread_join(first, NULL), 0);
    assert_int_equal(pthread_join(second, NULL), 0);
    expect_visit("slow slower");
    assert_int_equal(thread_ends_reported(), 0);
}

/* A child of a fork has the ring of its parent. */
static void
ends_that_are_dropped_are_never_read(void **state)
{
    (void)state;
    end("a");
    thread_ends_reset();
    expect_visit("");
    end("b");
    expect_visit("b");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ends_are_read_once_in_their_order, empty),
        cmocka_unit_test_setup(an_end_during_a_visit_is_for_the_next, empty),
        cmocka_unit_test_setup(an_unwritten_end_keeps_no_other_back, empty),
        cmocka_unit_test_setup(two_unwritten_ends_are_read_when_each_is_written,
                               empty),
        cmocka_unit_test_setup(ends_that_are_dropped_are_never_read, empty),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
