/* SPDX-License-Identifier: MIT */
/*
 * rate_test.c -- due = taken + lost + not asked, whatever was due and taken;
 * and what is said of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rate.h"
#include "base/text.h"

#define MS 1000000u
#define SECOND 1000000000u

/* The points of RATE where TAKEN and LOST were asked for: they add up. */
static uint64_t
points(const struct rate *rate, uint64_t taken, uint64_t lost,
       uint64_t unasked[LIMIT_COUNT])
{
    uint64_t due = rate_points(rate, taken + lost, unasked), sum = taken + lost;

    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        sum += unasked[i];
    assert_int_equal(sum, due);
    return due;
}

static void
expect_told(const struct rate *rate, uint64_t taken, uint64_t lost,
            const char *expected)
{
    char line[256];
    struct text text;

    text_begin(&text, line, sizeof line);
    rate_tell(&text, rate, 1000, taken, lost, 0);
    assert_string_equal(line, expected);
}

/* The words for a rate, where there is room for ROOM bytes. */
static void
expect_short(const struct rate *rate, uint64_t taken, uint64_t lost,
             size_t room, const char *expected)
{
    char line[256];
    struct text text;

    text_begin(&text, line, sizeof line);
    rate_tell(&text, rate, 1000, taken, lost, room);
    assert_string_equal(line, expected);
}

static void
nothing_is_missing(void **state)
{
    struct rate rate = {.tick = 4 * MS};
    uint64_t unasked[LIMIT_COUNT];

    (void)state;
    assert_int_equal(points(&rate, 0, 0, unasked), 0);
    rate_add(&rate, LIMIT_MERGED, 2 * SECOND, MS, 1990);
    assert_int_equal(points(&rate, 1990, 0, unasked), 2000);
    assert_int_equal(unasked[LIMIT_MERGED], 10);
    assert_int_equal(rate_wanted(&rate), 1000);
    assert_int_equal(rate_reached(&rate, 1990), 995);
    expect_told(&rate, 1990, 0, "995 a CPU second of 1,000 asked");
}

/* The period is drawn at random, so there may be more. */
static void
more_than_was_due_is_chance(void **state)
{
    struct rate rate = {0};
    uint64_t unasked[LIMIT_COUNT];

    (void)state;
    rate_add(&rate, LIMIT_MERGED, SECOND, MS, 1020);
    assert_int_equal(points(&rate, 1020, 3, unasked), 1023);
    expect_told(&rate, 1020, 3,
                "1,020 a CPU second of 1,000 asked, more by chance");

    rate_add(&rate, LIMIT_MERGED, SECOND, MS, 1120);
    expect_told(&rate, 2140, 3,
                "1,070 a CPU second of 1,000 asked, more than drawn");
}

static void
timers_reach_their_own_rate(void **state)
{
    struct rate rate = {.tick = 4 * MS};
    uint64_t unasked[LIMIT_COUNT];

    (void)state;
    rate_add(&rate, LIMIT_SWITCHES, 1930 * MS, MS, 434);
    assert_int_equal(points(&rate, 434, 0, unasked), 1930);
    assert_int_equal(unasked[LIMIT_SWITCHES], 1496);
    expect_told(&rate, 434, 0,
                "225 a CPU second of 1,000 asked (timers, 250 Hz: threads "
                "switch too often)");
    rate.tick = 0;
    expect_told(&rate, 434, 0,
                "225 a CPU second of 1,000 asked (timers: threads switch too "
                "often)");
}

/* One limit has more than its points, as a young thread's timer gives: that
 * does not make up for what another one lacks, but for the sum. */
static void
several_limits_share_what_is_missing(void **state)
{
    struct rate rate = {.tick = 10 * MS};
    uint64_t unasked[LIMIT_COUNT];

    (void)state;
    rate_add(&rate, LIMIT_MERGED, 100 * MS, MS, 120);
    rate_add(&rate, LIMIT_TIMERS, 300 * MS, MS, 30);
    rate_add(&rate, LIMIT_SHORT, 100 * MS, MS, 10);
    assert_int_equal(points(&rate, 160, 20, unasked), 500);
    assert_int_equal(unasked[LIMIT_MERGED], 0);
    assert_int_equal(unasked[LIMIT_TIMERS], 240);
    assert_int_equal(unasked[LIMIT_SHORT], 80);
    expect_told(&rate, 160, 20,
                "320 a CPU second of 1,000 asked (timers, 100 Hz; threads end "
                "before their first sample)");
    expect_told(&rate, 100, 80,
                "200 a CPU second of 1,000 asked (80 lost; timers, 100 Hz; "
                "threads end before their first sample)");
}

/* Of a few points, a number a second would be noise, and 0 of it no answer to
 * how many samples there are. */
static void
few_points_are_counted(void **state)
{
    struct rate rate = {.tick = 4 * MS};

    (void)state;
    rate_add(&rate, LIMIT_EARLY, MS / 3, MS, 0);
    expect_told(&rate, 0, 0, "less than one point due at 1,000 a CPU second");
    expect_short(&rate, 0, 0, 1, "less than one point due");
    rate_add(&rate, LIMIT_EARLY, MS / 3, MS, 0);
    expect_told(&rate, 0, 0,
                "0 of 1 point due at 1,000 a CPU second (processes begin "
                "before they can be sampled)");
    rate_add(&rate, LIMIT_TIMERS, 10 * MS, MS, 3);
    expect_told(&rate, 3, 2,
                "3 of 11 points due at 1,000 a CPU second (2 lost; timers, 250 "
                "Hz; processes begin before they can be sampled)");
    rate_add(&rate, LIMIT_MERGED, 8 * MS, MS, 8);
    expect_short(&rate, 11, 2, 100,
                 "11 of 19 points due (2 lost, timers, early)");
    rate_add(&rate, LIMIT_MERGED, MS, MS, 1);
    expect_told(&rate, 20, 0,
                "1,017 a CPU second of 1,000 asked, more by "
                "chance");
}

/* The first word is written whatever room there is. */
static void
as_many_causes_are_told_as_fit(void **state)
{
    struct rate rate = {.tick = 4 * MS};

    (void)state;
    rate_add(&rate, LIMIT_SWITCHES, SECOND, MS, 250);
    rate_add(&rate, LIMIT_SHORT, SECOND / 2, MS, 0);
    rate_add(&rate, LIMIT_EARLY, SECOND / 2, MS, 0);
    expect_short(&rate, 250, 0, 100,
                 "125 a CPU second of 1,000 asked (switches, short, early)");
    expect_short(&rate, 250, 0, 50,
                 "125 a CPU second of 1,000 asked (switches, short)");
    expect_short(&rate, 250, 0, 1,
                 "125 a CPU second of 1,000 asked (switches)");
}

/* A thousand processes of less than a period each, a third of which has a
 * sample, as they should. */
static void
short_processes_add_up_to_their_due(void **state)
{
    struct rate sum = {0};
    uint64_t unasked[LIMIT_COUNT];

    (void)state;
    for (unsigned i = 0; i < 999; i++) {
        struct rate rate = {0};
        rate_add(&rate, LIMIT_SHORT, MS / 3, MS, i % 3 == 0);
        rate_merge(&sum, &rate);
    }
    assert_in_range(points(&sum, 333, 0, unasked), 333, 333);
    assert_int_equal(unasked[LIMIT_SHORT], 0);
}

/* Whatever a damaged file says. */
static void
any_numbers_add_up(void **state)
{
    uint64_t unasked[LIMIT_COUNT];

    (void)state;
    srand(4711);
    for (unsigned i = 0; i < 10000; i++) {
        struct rate rate = {0}, sum = {0};
        for (unsigned j = 0; j < LIMIT_COUNT; j++)
            rate_add(&rate, (enum limit)j, UINT64_MAX >> rand() % 64,
                     (uint64_t)rand() % 3 * MS, UINT64_MAX >> rand() % 64);
        rate_merge(&sum, &rate);
        rate_merge(&sum, &rate);
        (void)points(&sum, UINT32_MAX >> rand() % 32, 7, unasked);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_missing),
        cmocka_unit_test(more_than_was_due_is_chance),
        cmocka_unit_test(timers_reach_their_own_rate),
        cmocka_unit_test(several_limits_share_what_is_missing),
        cmocka_unit_test(few_points_are_counted),
        cmocka_unit_test(as_many_causes_are_told_as_fit),
        cmocka_unit_test(short_processes_add_up_to_their_due),
        cmocka_unit_test(any_numbers_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
