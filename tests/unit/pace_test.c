/* SPDX-License-Identifier: MIT */
/*
 * pace_test.c -- when the sampler looks, and how much it may use: instants lie
 * in their periods, at random and without preference; a sampler that used too
 * much looks less often, and as often as before when it can.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampling/budget.h"
#include "sampling/pace.h"

#define START 1000000u
#define PERIOD 1000u
#define MS 1000000u

/* Each instant lies in the block of periods behind the one before. */
static void
instants_lie_in_their_periods(void **state)
{
    struct pace pace;
    uint64_t index = 0;

    (void)state;
    pace_begin(&pace, START, PERIOD, 4711);
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t stride = i % 7 + 1;
        uint64_t from = START + index * PERIOD;
        uint64_t at = pace_next(&pace, from, stride);

        assert_in_range(at, from, from + stride * PERIOD - 1);
        index += stride;
    }
}

/* A tenth of the instants lies in each tenth of the period. */
static void
no_part_of_a_period_is_preferred(void **state)
{
    struct pace pace;
    uint32_t tenths[10] = {0};

    (void)state;
    pace_begin(&pace, 0, PERIOD, 1);
    for (uint32_t i = 0; i < 100000; i++)
        tenths[pace_next(&pace, 0, 1) % PERIOD / (PERIOD / 10)]++;
    /* The standard deviation is 95. */
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(tenths[i], 9500, 10500);
}

static void
missed_periods_are_left_out(void **state)
{
    struct pace pace;
    uint64_t now = START + 50 * PERIOD + 1;

    (void)state;
    pace_begin(&pace, START, PERIOD, 1);
    assert_in_range(pace_next(&pace, START, 1), START, START + PERIOD - 1);
    assert_in_range(pace_next(&pace, now, 1), START + 50 * PERIOD,
                    START + 51 * PERIOD - 1);
}

/* After a long stride was begun, the next instant can be called nearer. */
static void
who_hurries_comes_in_the_next_period(void **state)
{
    struct pace pace;
    uint64_t now = START + 3 * PERIOD + 1;

    (void)state;
    pace_begin(&pace, START, PERIOD, 1);
    pace_next(&pace, START, 32);
    pace_hurry(&pace, now);
    assert_in_range(pace_next(&pace, now, 1), START + 4 * PERIOD,
                    START + 5 * PERIOD - 1);
    /* A stride that is over anyway is not gone back to. */
    pace_hurry(&pace, START + 100 * PERIOD);
    assert_in_range(pace_next(&pace, now, 1), START + 5 * PERIOD,
                    START + 6 * PERIOD - 1);
}

static void
after_a_shift_no_instant_has_passed(void **state)
{
    struct pace pace;

    (void)state;
    pace_begin(&pace, 0, 1000, 3);
    for (uint64_t now = 700; now < 300000; now += 1300) {
        (void)pace_next(&pace, now, 8);
        pace_shift(&pace, now);
        uint64_t at = pace_next(&pace, now, 1);
        assert_true(at >= now && at < now + 1000);
    }
}

static void
random_numbers_stay_below_their_limit(void **state)
{
    struct pace pace;

    (void)state;
    pace_begin(&pace, 0, PERIOD, 0);
    for (uint32_t i = 1; i < 1000; i++)
        assert_true(pace_random(&pace, i) < i);
    assert_int_equal(pace_random(&pace, 1), 0);
}

/* 100 ticks of 1 ms that use USED ns each. Returns the last stride. */
static uint32_t
run_window(struct budget *budget, uint64_t *now, uint64_t *own, uint64_t used,
           bool is_free)
{
    uint32_t stride = 0;

    for (unsigned i = 0; i < 100; i++) {
        *now += MS;
        *own += used;
        stride = budget_note(budget, *now, *own, is_free);
    }
    return stride;
}

static void
a_sampler_over_its_budget_strides(void **state)
{
    struct budget budget;
    uint64_t now = 5 * MS, own = 77;

    (void)state;
    budget_begin(&budget, 2, now, own);
    /* 2 % of a millisecond are 20,000 ns. */
    assert_int_equal(run_window(&budget, &now, &own, 19000, false), 1);
    assert_int_equal(run_window(&budget, &now, &own, 21000, false), 2);
    assert_int_equal(run_window(&budget, &now, &own, 21000, false), 4);
    /* In between it stays, far below it comes back. */
    assert_int_equal(run_window(&budget, &now, &own, 10000, false), 4);
    assert_int_equal(run_window(&budget, &now, &own, 1000, false), 2);
    assert_int_equal(run_window(&budget, &now, &own, 1000, false), 1);
    assert_int_equal(run_window(&budget, &now, &own, 1000, false), 1);
}

static void
what_is_free_does_not_count(void **state)
{
    struct budget budget;
    uint64_t now = 0, own = 0;

    (void)state;
    budget_begin(&budget, 1, now, own);
    assert_int_equal(run_window(&budget, &now, &own, 900000, true), 1);
    for (unsigned i = 0; i < 20; i++)
        run_window(&budget, &now, &own, 900000, false);
    assert_int_equal(budget.stride, 64);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_lie_in_their_periods),
        cmocka_unit_test(no_part_of_a_period_is_preferred),
        cmocka_unit_test(missed_periods_are_left_out),
        cmocka_unit_test(who_hurries_comes_in_the_next_period),
        cmocka_unit_test(after_a_shift_no_instant_has_passed),
        cmocka_unit_test(random_numbers_stay_below_their_limit),
        cmocka_unit_test(a_sampler_over_its_budget_strides),
        cmocka_unit_test(what_is_free_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
