/* SPDX-License-Identifier: MIT */
/*
 * scheduling_test.c -- how the sampler's thread is scheduled: when it is
 * patient it takes the CPU from no thread, any thread can let it hurry, and its
 * children never inherit what it has set.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/scheduling.h"
#include "sampling/sampler_thread.h"

#define PERIOD_NS 1000000u

/* The policy and nice value of a thread. */
struct seen {
    int policy, nice;
};

static struct seen before, hurried, patient, hurried_again, raised, given_way;
static bool was_hurried[4];

static struct seen
see(void)
{
    return (struct seen){sched_getscheduler(0), getpriority(PRIO_PROCESS, 0)};
}

static void *
let_hurry(void *unused)
{
    scheduling_hurry();
    return unused;
}

/* Another thread calls scheduling_hurry. */
static void
be_hurried(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, let_hurry, NULL), 0);
    pthread_join(thread, NULL);
}

static void *
run(void *unused)
{
    before = see();
    (void)sampler_thread_settle(PERIOD_NS); /* calls scheduling_begin */
    hurried = see();
    be_hurried();
    was_hurried[0] = scheduling_was_hurried();
    scheduling_be_patient(true);
    patient = see();
    scheduling_be_patient(false);
    hurried_again = see();
    was_hurried[1] = scheduling_was_hurried();
    scheduling_be_patient(true);
    be_hurried();
    raised = see();
    was_hurried[2] = scheduling_was_hurried();
    was_hurried[3] = scheduling_was_hurried();
    scheduling_be_patient(true);
    scheduling_give_way();
    given_way = see();
    return unused;
}

static void
assert_same(struct seen a, struct seen b)
{
    assert_int_equal(a.policy, b.policy);
    assert_int_equal(a.nice, b.nice);
}

static void
patience_comes_and_goes(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    pthread_join(thread, NULL);
    if (before.policy != SCHED_OTHER)
        skip();
    assert_int_equal(hurried.policy, SCHED_OTHER);
    assert_true(hurried.nice <= before.nice);
    assert_int_equal(patient.policy, SCHED_BATCH);
    assert_int_equal(patient.nice, before.nice);
    assert_same(hurried_again, hurried);
    assert_same(raised, hurried);
    assert_same(given_way, before);
    assert_false(was_hurried[0]);
    assert_false(was_hurried[1]);
    assert_true(was_hurried[2]);
    assert_false(was_hurried[3]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patience_comes_and_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
