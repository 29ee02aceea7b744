/* SPDX-License-Identifier: MIT */
/*
 * cost_test.c -- what sampling may cost, and the rate that it leaves: at the
 * asked rate first, and then within the share on the long run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampling/cost.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define PERCENT (10 * MS) /* of a second */
#define LONGEST (100 * MS)
#define ASKED (1 * MS)
#define PLAN (PERCENT * 9 / 10) /* what one percent plans */

/* What a program was sampled with. */
struct run {
    struct cost cost;
    uint64_t period, cpu, taken, changes;
    uint64_t full; /* CPU time at the asked rate */
};

/* The program runs until it has used UNTIL ns, and a sample costs EACH ns. */
static void
go_on(struct run *run, uint64_t until, uint64_t each, uint64_t fixed)
{
    const uint64_t step = 100 * MS;

    while (run->cpu < until) {
        uint64_t taken = step / run->period, period;

        run->cpu += step;
        run->taken += taken;
        run->full += run->period == ASKED ? step : 0;
        cost_note(&run->cost, run->cpu, taken, taken * each, fixed);
        period = cost_period(&run->cost, ASKED, run->period);
        run->changes += period != run->period;
        run->period = period;
    }
}

static struct run
begin(uint64_t allowed)
{
    struct run run = {.period = ASKED};

    cost_begin(&run.cost, allowed, LONGEST);
    return run;
}

static void
what_is_cheap_is_not_limited(void **state)
{
    struct run run = begin(PERCENT);

    (void)state;
    go_on(&run, 1000 * SECOND, 8000, 0);
    assert_int_equal(run.changes, 0);
    run = begin(0);
    go_on(&run, 1000 * SECOND, MS, 0);
    assert_int_equal(run.changes, 0);
}

/* Whatever a sample costs: ten seconds cost their share at most, and so does an
 * hour, and the first samples come at the asked rate. */
static void
ten_seconds_are_within_the_share(void **state)
{
    (void)state;
    for (uint64_t each = 12000; each <= 100000; each += 4000) {
        struct run run = begin(PERCENT);

        go_on(&run, 10 * SECOND, each, 0);
        assert_in_range(run.cost.spent, 81 * MS, 95 * MS);
        assert_in_range(run.full, 100 * MS, 6 * SECOND);
        go_on(&run, 3600 * SECOND, each, 0);
        assert_in_range(run.cost.spent, 2800 * PLAN, 3650 * PLAN);
        assert_in_range(run.changes, 1, 20);
    }
}

/* In a second one may spend the plan of two seconds, no more. */
static void
a_short_run_has_samples(void **state)
{
    struct run run = begin(PERCENT);

    (void)state;
    go_on(&run, 1 * SECOND, 40000, 0);
    assert_in_range(run.taken, 400, 600);
    assert_in_range(run.cost.spent, 14 * MS, 23 * MS);
}

static void
the_share_may_be_small_or_large(void **state)
{
    struct run run = begin(PERCENT / 10);

    (void)state;
    go_on(&run, 100 * SECOND, 20000, 0);
    assert_in_range(run.cost.spent, 9 * PLAN, 102 * PLAN / 10);
    run = begin(5 * PERCENT);
    go_on(&run, 100 * SECOND, 80000, 0);
    assert_in_range(run.cost.spent, 480 * PLAN, 505 * PLAN);
}

/* A program that grows pays more for each sample: the rate follows, and the
 * debt is paid back. */
static void
a_dearer_sample_lowers_the_rate(void **state)
{
    struct run run = begin(PERCENT);
    uint64_t before;

    (void)state;
    go_on(&run, 20 * SECOND, 20000, 0);
    before = run.period;
    go_on(&run, 60 * SECOND, 80000, 0);
    assert_true(run.period > 3 * before);
    assert_in_range(run.cost.spent, 55 * PLAN, 66 * PLAN);
    go_on(&run, 200 * SECOND, 20000, 0);
    assert_true(run.period < 2 * before);
    assert_in_range(run.cost.spent, 180 * PLAN, 205 * PLAN);
}

/* What no rate can save takes half of the share at most. */
static void
fixed_cost_leaves_samples(void **state)
{
    struct run run = begin(PERCENT);

    (void)state;
    go_on(&run, 100 * SECOND, 20000, 300000);
    assert_in_range(run.cost.spent, 90 * PLAN, 105 * PLAN);
    run = begin(PERCENT);
    go_on(&run, 100 * SECOND, 20000, 100 * MS);
    assert_in_range(run.taken, 100 * 180, 100 * 270);
}

/* The longest period goes before the share. */
static void
a_period_has_a_bound(void **state)
{
    struct run run = begin(PERCENT / 100);

    (void)state;
    go_on(&run, 10 * SECOND, MS, 0);
    assert_int_equal(run.period, LONGEST);
    run = begin(PERCENT);
    run.cost.longest = 10 * MS;
    go_on(&run, 10 * SECOND, MS, 0);
    assert_int_equal(run.period, 10 * MS);
}

/* What could be spent at once lasts for a second at most. */
static void
a_cheap_sample_does_not_prolong_the_start(void **state)
{
    struct run run = begin(PERCENT);

    (void)state;
    go_on(&run, 10 * SECOND, 10000, 0);
    assert_in_range(run.full, 900 * MS, 1100 * MS);
    assert_in_range(run.cost.spent, 81 * MS, 95 * MS);
}

static void
a_child_goes_on_with_what_is_left(void **state)
{
    struct run run = begin(PERCENT);

    (void)state;
    /* Of 9 ms the parent has spent some. */
    go_on(&run, 100 * MS, 40000, 0);
    cost_begin_child(&run.cost, PERCENT, LONGEST);
    assert_in_range(run.cost.start, 5 * MS, 7 * MS);
    /* This one has nothing left. */
    run = begin(PERCENT);
    go_on(&run, 20 * SECOND, 40000, 0);
    cost_begin_child(&run.cost, PERCENT, LONGEST);
    assert_int_equal(run.cost.start, PLAN / 4);
    run.period = ASKED;
    run.cpu = run.taken = 0;
    go_on(&run, 10 * SECOND, 40000, 0);
    assert_in_range(run.cost.spent, 81 * MS, 95 * MS);
}

/* While somebody looks, samples cost what they do. Then it is as before. */
static void
what_is_forgiven_is_not_paid_back(void **state)
{
    struct run run = begin(PERCENT);

    (void)state;
    go_on(&run, 20 * SECOND, 40000, 0);
    uint64_t before = run.cost.spent, period = run.period;
    cost_note(&run.cost, run.cpu += 10 * SECOND, 10000, 10000 * 40000, 0);
    cost_forgive(&run.cost);
    assert_int_equal(cost_period(&run.cost, ASKED, period) / MS, period / MS);
    go_on(&run, 40 * SECOND, 40000, 0);
    assert_in_range(run.cost.spent - before, 400 * MS + 70 * MS,
                    400 * MS + 105 * MS);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        cmocka_unit_test(what_is_cheap_is_not_limited),
        cmocka_unit_test(ten_seconds_are_within_the_share),
        cmocka_unit_test(a_short_run_has_samples),
        cmocka_unit_test(the_share_may_be_small_or_large),
        cmocka_unit_test(a_dearer_sample_lowers_the_rate),
        cmocka_unit_test(fixed_cost_leaves_samples),
        cmocka_unit_test(a_period_has_a_bound),
        cmocka_unit_test(a_cheap_sample_does_not_prolong_the_start),
        cmocka_unit_test(a_child_goes_on_with_what_is_left),
        cmocka_unit_test(what_is_forgiven_is_not_paid_back),
    };

    return cmocka_run_group_tests(units, NULL, NULL);
}
