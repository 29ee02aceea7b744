/* SPDX-License-Identifier: MIT */
/*
 * pace_test.c -- when the sampler looks, and how much it may use: instants lie
 * in their periods, at random and without preference; a sampler that used too
 * much looks less often, and as often as before when it can.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampling/budget.h"
#include "sampling/pace.h"
#include "sampling/patience.h"

#define START 1000000u
#define PERIOD 1000u
#define MS 1000000u

/* Each instant lies in the block of periods after the one before. */
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
    /* A stride that is over anyway is not shortened. */
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

/* What budget_note is told. */
struct clocks {
    uint64_t now, own, process;
};

/* 100 ticks of 1 ms in which the sampler uses OWN ns each, and the threads use
 * RAN. Returns the last stride. */
static uint32_t
run_window(struct budget *budget, struct clocks *clocks, uint64_t own,
           uint64_t ran, bool is_free)
{
    uint32_t stride = 0;

    for (unsigned i = 0; i < 100; i++) {
        clocks->now += MS;
        clocks->own += own;
        clocks->process += own + ran;
        stride = budget_note(budget, clocks->now, clocks->own, clocks->process,
                             is_free);
    }
    return stride;
}

static struct clocks
begin_budget(struct budget *budget, uint64_t percent, uint64_t allowed)
{
    struct clocks clocks = {.now = 5 * MS, .own = 77, .process = 4711};

    budget_begin(budget, percent, allowed, clocks.now, clocks.own,
                 clocks.process);
    return clocks;
}

static void
a_sampler_over_its_budget_strides(void **state)
{
    struct budget budget;
    struct clocks clocks = begin_budget(&budget, 2, 0);

    (void)state;
    /* 2 % of a millisecond are 20,000 ns. */
    assert_int_equal(run_window(&budget, &clocks, 19000, 0, false), 1);
    assert_int_equal(run_window(&budget, &clocks, 21000, 0, false), 2);
    assert_int_equal(run_window(&budget, &clocks, 50000, 0, false), 4);
    assert_int_equal(run_window(&budget, &clocks, 30000, 0, false), 6);
    assert_int_equal(run_window(&budget, &clocks, 20100, 0, false), 7);
    /* In between it stays, below it comes back. */
    assert_int_equal(run_window(&budget, &clocks, 15000, 0, false), 7);
    assert_int_equal(run_window(&budget, &clocks, 14900, 0, false), 6);
    assert_int_equal(run_window(&budget, &clocks, 1000, 0, false), 3);
    assert_int_equal(run_window(&budget, &clocks, 1000, 0, false), 2);
    assert_int_equal(run_window(&budget, &clocks, 1000, 0, false), 1);
    assert_int_equal(run_window(&budget, &clocks, 1000, 0, false), 1);
}

static void
what_is_free_does_not_count(void **state)
{
    struct budget budget;
    struct clocks clocks = begin_budget(&budget, 1, 0);

    (void)state;
    assert_int_equal(run_window(&budget, &clocks, 900000, 0, true), 1);
    for (unsigned i = 0; i < 20; i++)
        run_window(&budget, &clocks, 900000, 0, false);
    assert_int_equal(budget.stride, 64);
}

/* 1 % of the threads' CPU time, which is half of a CPU, are 5,000 ns of a
 * millisecond. */
static void
the_share_of_the_threads_begins_after_a_credit(void **state)
{
    struct budget budget;
    struct clocks clocks = begin_budget(&budget, 2, 10 * MS);
    unsigned windows = 0;

    (void)state;
    while (run_window(&budget, &clocks, 15000, MS / 2, false) == 1)
        windows++;
    /* 10 ms of credit last for ten windows of 1.5 ms less 0.5. */
    assert_int_equal(windows, 10);
    assert_int_equal(run_window(&budget, &clocks, 5100, MS / 2, false), 3);
    assert_int_equal(run_window(&budget, &clocks, 4900, MS / 2, false), 3);
    assert_int_equal(run_window(&budget, &clocks, 1000, MS / 2, false), 2);
}

/* 1/400 of a millisecond are 2,500 ns. */
static void
a_process_that_waits_is_looked_at_too(void **state)
{
    struct budget budget;
    struct clocks clocks = begin_budget(&budget, 2, 10 * MS);

    (void)state;
    budget.credit = 0;
    assert_int_equal(run_window(&budget, &clocks, 2400, 0, false), 1);
    assert_int_equal(run_window(&budget, &clocks, 2600, 0, false), 2);
}

static void
the_share_of_the_threads_is_within_the_budget(void **state)
{
    struct budget budget;
    struct clocks clocks = begin_budget(&budget, 2, 10 * MS);

    (void)state;
    budget.credit = 0;
    assert_int_equal(run_window(&budget, &clocks, 19000, 4 * MS, false), 1);
    assert_int_equal(run_window(&budget, &clocks, 21000, 4 * MS, false), 2);
}

/* A tick each 10 ms, LATE ns late, that sees a thread wait; or the sampler was
 * NEEDED soon. Returns whether the sampler is patient. */
static bool
tick(struct patience *patience, uint64_t *now, uint64_t late, bool waits,
     bool needed)
{
    *now += 10 * MS;
    patience_note(patience, late);
    return patience_choose(patience, *now, waits, needed);
}

static void
who_looks_at_waits_is_patient(void **state)
{
    struct patience patience;
    uint64_t now = 77;
    unsigned ticks = 0;

    (void)state;
    patience_begin(&patience, now);
    while (!tick(&patience, &now, 1000, true, false))
        ticks++;
    assert_int_equal(ticks, 25);
    assert_false(tick(&patience, &now, 1000, true, true));
    for (ticks = 0; !tick(&patience, &now, 1000, true, false); ticks++)
        continue;
    assert_int_equal(ticks, 25);
    for (ticks = 0; tick(&patience, &now, 1000, false, false); ticks++)
        continue;
    assert_int_equal(ticks, 24);
}

static void
who_was_late_hurries(void **state)
{
    struct patience patience;
    uint64_t now = 77;
    unsigned ticks = 0;

    (void)state;
    patience_begin(&patience, now);
    while (!tick(&patience, &now, 1000, true, false))
        continue;
    /* One of twenty is late. */
    for (unsigned i = 0; i < 1000; i++)
        assert_true(
            tick(&patience, &now, i % 20 == 0 ? MS : 1000, true, false));
    /* One of four. */
    while (tick(&patience, &now, ticks % 4 == 0 ? MS : 1000, true, false))
        ticks++;
    assert_in_range(ticks, 1, 40);
    for (ticks = 0; !tick(&patience, &now, 1000, true, false); ticks++)
        continue;
    assert_int_equal(ticks, 255);
    /* Very late, once. */
    assert_false(tick(&patience, &now, 5 * MS, true, false));
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
        cmocka_unit_test(the_share_of_the_threads_begins_after_a_credit),
        cmocka_unit_test(a_process_that_waits_is_looked_at_too),
        cmocka_unit_test(the_share_of_the_threads_is_within_the_budget),
        cmocka_unit_test(who_looks_at_waits_is_patient),
        cmocka_unit_test(who_was_late_hurries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
