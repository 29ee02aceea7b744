/* SPDX-License-Identifier: MIT */
/*
 * vary_test.c -- perf's rate is the one that was asked for, however slow it is
 * and however seldom the main thread runs, although each change of the period
 * begins it anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampling/trigger/vary.h"
#include "base/clock.h"

#define US 1000u
#define MS 1000000u
#define SECOND 1000000000u

/* The kernel's side of it: a main thread with an event. */
struct run {
    struct vary vary;
    uint64_t now, cpu; /* ns */
    uint64_t left;     /* until the next sample, of CPU time */
    uint64_t period;
    unsigned samples, changes;
    bool has_new;
};

static void
begin(struct run *run, uint64_t period)
{
    *run = (struct run){.now = 1000 * (uint64_t)SECOND,
                        .left = period,
                        .period = period};
    vary_begin(&run->vary, period);
}

/* The main thread has run for CPU ns more. */
static void
compute(struct run *run, uint64_t cpu)
{
    run->cpu += cpu;
    for (; cpu >= run->left; run->left = run->period) {
        cpu -= run->left;
        run->samples++;
    }
    run->left -= cpu;
}

/* A tick of the sampler. */
static void
tick(struct run *run)
{
    uint64_t period = 0;

    if (vary_is_time(&run->vary, run->now, run->has_new))
        period = vary_next(&run->vary, run->now, run->cpu, run->has_new, 5,
                           (uint64_t)rand());
    if (period == 0)
        return;
    run->period = run->left = period;
    run->changes++;
}

/* SECONDS in which the thread runs for CPU of every PERIOD_NS, 10 ms. */
static void
pass(struct run *run, unsigned seconds, uint64_t cpu)
{
    for (unsigned i = 0; i < 100 * seconds; i++) {
        compute(run, cpu);
        run->now += 10 * MS;
        tick(run);
    }
}

/* A busy thread has its samples to within 2 % at any rate, or a few. */
static void
busy_at_any_rate(void **state)
{
    static const unsigned rates[] = {10, 49, 99, 1000, 20000};

    (void)state;
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct run run;
        unsigned due = 60 * rates[i], slack = due / 50 + 4;
        begin(&run, SECOND / rates[i]);
        pass(&run, 60, 10 * MS);
        assert_in_range(run.samples, due - slack, due + slack);
        assert_true(run.changes >= 5);
    }
}

/* So has one that never runs for a period between two ticks, within 10 %. */
static void
a_thread_that_seldom_runs_has_its_samples(void **state)
{
    static const unsigned parts[] = {20, 50, 200, 1000};

    (void)state;
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct run run;
        unsigned due = 100 * 200 * parts[i] / 1000;
        begin(&run, MS);
        pass(&run, 200, parts[i] * US);
        assert_in_range(run.samples, due - due / 10, due + due / 10);
        assert_true(run.changes >= 5);
    }
}

/* Threads come all the time: the period changes more often, and half of a busy
 * main thread's samples are there in any case. */
static void
new_threads_leave_half_of_the_samples(void **state)
{
    struct run run;

    (void)state;
    begin(&run, MS);
    run.has_new = true;
    pass(&run, 100, 100 * US);
    assert_true(run.changes >= 480);
    assert_in_range(run.samples, 500, 1200);
    begin(&run, MS);
    run.has_new = true;
    pass(&run, 10, 10 * MS);
    assert_int_equal(run.changes, 1000);
    assert_in_range(run.samples, 9000, 11000);
}

/* A main thread that sleeps, or is gone, has nothing to lose. */
static void
a_thread_that_does_not_run(void **state)
{
    struct run run;

    (void)state;
    begin(&run, MS);
    pass(&run, 7, 0);
    assert_true(run.changes >= 90);
    run.cpu = CLOCK_NONE;
    run.changes = 0;
    for (unsigned i = 0; i < 700; i++) {
        run.now += 10 * MS;
        tick(&run);
    }
    assert_true(run.changes >= 90);
}

/* Two neighbours are right together; no two pairs are the same. */
static void
every_second_draw_mirrors(void **state)
{
    struct vary vary;
    uint64_t now = SECOND, last = 0;

    (void)state;
    vary_begin(&vary, MS);
    for (unsigned i = 0; i < 100; i++, now += SECOND) {
        uint64_t one = vary_next(&vary, now, 0, false, 5, (uint64_t)rand());
        uint64_t two = vary_next(&vary, now, 0, false, 5, (uint64_t)rand());
        double rate = 1e6 / (double)one + 1e6 / (double)two;
        assert_in_range(one, 833333, 1250000);
        assert_in_range((uint64_t)(rate * 1e4), 19999, 20001);
        assert_int_not_equal(one, last);
        last = one;
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_at_any_rate),
        cmocka_unit_test(a_thread_that_seldom_runs_has_its_samples),
        cmocka_unit_test(new_threads_leave_half_of_the_samples),
        cmocka_unit_test(a_thread_that_does_not_run),
        cmocka_unit_test(every_second_draw_mirrors),
    };

    srand(4711);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
