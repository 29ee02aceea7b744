/* SPDX-License-Identifier: MIT */
/*
 * group_test.c -- threads too short to stand for themselves: their samples
 * share by age what all of them used. A bin of ages is 1/64 of the period. The
 * time of unseen threads comes by quarters of the period, of 16 bins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weigh_maker.h"

#define US 1000ull
#define BIN 15625ull /* ns */
#define QUARTER (16 * BIN)

/* Threads FROM to TO, of which each used CPU. */
static void
add_threads(uint32_t from, uint32_t to, uint64_t cpu)
{
    for (uint32_t i = from; i <= to; i++) {
        maker_add_thread(i, 4710 + i, "short");
        maker_add_end(i, 9000000, cpu, THREAD_END_EXACT);
    }
}

/* COUNT records of THREAD at NODE, STEP apart, the first of them at AGE. */
static void
add_ages(uint32_t thread, uint32_t node, unsigned count, uint64_t age,
         uint64_t step)
{
    for (unsigned i = 0; i < count; i++)
        maker_add_aged(thread, node, 1, 1000000, age + i * step);
}

/* Of five threads with less than eight periods two were sampled, four times in
 * all. A sixth thread used eight, which is enough to stand for itself. */
static void
short_threads_share_by_records(void **state)
{
    struct profile *profile;
    uint32_t i;

    (void)state;
    weigh_begin();
    for (i = 3; i <= 6; i++)
        maker_add_thread(i, 4710 + i, "short");
    maker_add_running(1, 1, 1, 900000);
    maker_add_running(2, 1, 1, 50000);
    maker_add_running(2, 1, 1, 50000);
    maker_add_running(2, 2, 5, 700000);
    maker_add_running(6, 2, 1, 1000000);
    for (i = 1; i <= 5; i++)
        maker_add_end(i, 9, i * 100001, THREAD_END_EXACT);
    maker_add_end(6, 9, 8000000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    /* 1500015 / 4 */
    weigh_expect(profile, 0, FIRST, 1, 375003, 375003);
    weigh_expect(profile, 1, FIRST, 2, 750008, 750008);
    weigh_expect(profile, 1, SECOND, 5, 375004, 375004);
    weigh_expect(profile, 5, SECOND, 1, 8000000, 8000000);
    assert_int_equal(profile->sample_count, 4);
    assert_int_equal(profile->totals[VALUE_CPU], 9500015);
    assert_int_equal(profile->threads[4].cpu, 500005);
    assert_int_equal(profile->threads[4].values[VALUE_CPU], 0);
    profile_free(profile);
}

static void
short_threads_without_samples_stand_for_themselves(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_sample(1, 1, 1, 202);
    maker_add_end(1, 9, 7999999, THREAD_END_EXACT);
    maker_add_end(2, 9, 300000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 3);
    weigh_expect(profile, 0, PROFILE_NOT_SAMPLED, 0, 7999999, 7999999);
    weigh_expect(profile, 1, PROFILE_NOT_SAMPLED, 0, 300000, 300000);
    profile_free(profile);
}

static void
unseen_threads_belong_to_the_group(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 1, 1000000);
    for (unsigned i = 0; i < 3; i++)
        maker_add_running(2, 2, 1, 1000000);
    weigh_add_unseen(9, 7000000, 0);
    maker_add_end(1, 9, 500000, THREAD_END_EXACT);
    maker_add_end(2, 9, 500000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 2);
    weigh_expect(profile, 0, FIRST, 1, 2000000, 2000000);
    weigh_expect(profile, 1, SECOND, 3, 6000000, 6000000);
    assert_string_equal(profile->threads[2].name, "[short-lived]");
    assert_int_equal(profile->threads[2].values[VALUE_CPU], 0);
    assert_int_equal(profile->stopped_count, 0);
    profile_free(profile);
}

/* Also where that thread is said to have ended, with or without a clock. */
static void
unseen_threads_are_not_sampled(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 4, 4000000);
    weigh_add_unseen(9, 3000000, 250000);
    weigh_add_unseen(9, 4000000, 9000000);
    maker_add_end(1, 9, 8000000, THREAD_END_EXACT);
    maker_add_end(9, 9, 0, THREAD_END_EXACT | THREAD_END_ALIVE);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 4, 8000000, 8000000);
    weigh_expect(profile, 2, PROFILE_NOT_SAMPLED, 0, 7000000, 7000000);
    profile_free(profile);
    weigh_begin();
    weigh_add_unseen(9, 7000000, 0);
    maker_add_end(9, 9, 7000000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    weigh_expect(profile, 2, PROFILE_NOT_SAMPLED, 0, 7000000, 7000000);
    profile_free(profile);
}

/* The CPU time of all samples at NODE. */
static uint64_t
sum_of(const struct profile *profile, uint32_t node)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].node == node)
            sum += profile->samples[i].values[VALUE_CPU];
    return sum;
}

/* Sixteen threads of 4 ms each spend the first of them in one function. It was
 * sampled six times as often for its time, but there is no more of it. */
static void
young_functions_get_what_was_young(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 16, 4000 * US);
    for (uint32_t i = 1; i <= 16; i++) {
        add_ages(i, 1, 2, (20 + i * 60) * US, 10 * US);
        add_ages(i, 2, 1, 1000 * US + (i - 1) * 180 * US, 0);
    }
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 32);
    assert_int_equal(sum_of(profile, FIRST), 16 * 1000 * US);
    assert_int_equal(sum_of(profile, SECOND), 16 * 3000 * US);
    profile_free(profile);
}

/* With fifteen records of the old there are too few to tell ages apart. */
static void
few_records_share_alike(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 2, 7750 * US);
    add_ages(1, 1, 16, 0, BIN);
    add_ages(2, 2, 15, 7000 * US, BIN);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 16, 8000 * US, 8000 * US);
    weigh_expect(profile, 1, SECOND, 15, 7500 * US, 7500 * US);
    profile_free(profile);
    weigh_begin();
    add_threads(1, 2, 7750 * US);
    add_ages(1, 1, 16, 0, BIN);
    add_ages(2, 2, 16, 7000 * US, BIN);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 16, 2 * QUARTER, 2 * QUARTER);
    weigh_expect(profile, 1, SECOND, 16, 60 * QUARTER, 60 * QUARTER);
    profile_free(profile);
}

/* perf's first sample of each of twenty threads comes at one age. Their records
 * share what was used at that age. Four of a timer share all that was before.
 */
static void
a_crowded_age_stands_for_itself(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 20, 2000 * US);
    add_ages(1, 1, 4, 100 * US, 200 * US);
    for (uint32_t i = 1; i <= 20; i++)
        add_ages(i, 2, 1, 1000 * US + i, 0);
    add_ages(20, 1, 16, 1100 * US, 50 * US);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 4, 20 * 64 * BIN, 20 * 64 * BIN);
    assert_int_equal(sum_of(profile, SECOND), 20 * BIN);
    weigh_expect(profile, 19, FIRST, 16, 20 * 63 * BIN, 20 * 63 * BIN);
    profile_free(profile);
}

/* Their time is recorded by age, too. Threads older than eight periods count as
 * the oldest. The unseen time of a thread outside the group does not count. */
static void
unseen_threads_add_to_their_ages(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 2, 100 * US);
    add_ages(1, 1, 16, 0, BIN);
    add_ages(1, 2, 16, QUARTER, BIN);
    add_ages(2, 1, 8, 31 * QUARTER, 0);
    add_ages(2, 2, 8, 32 * QUARTER - 1, 0);
    weigh_add_unseen(9, 1000 * US, 0);
    weigh_add_unseen(9, 700 * US, QUARTER);
    weigh_add_unseen(9, 50 * US, 2 * QUARTER);
    weigh_add_unseen(9, 20 * US, 31 * QUARTER);
    weigh_add_unseen(9, 5 * US, 32 * QUARTER);
    weigh_add_unseen(9, 15 * US, 99 * QUARTER);
    weigh_add_unseen(10, 600 * US, QUARTER);
    maker_add_running(10, 1, 1, 1000 * US);
    maker_add_end(10, 9, 8000 * US, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 5);
    weigh_expect(profile, 0, FIRST, 16, 1200 * US, 1200 * US);
    weigh_expect(profile, 0, SECOND, 16, 700 * US, 700 * US);
    weigh_expect(profile, 1, FIRST, 8, 45 * US, 45 * US);
    weigh_expect(profile, 1, SECOND, 8, 45 * US, 45 * US);
    profile_free(profile);
}

/* The whole time of a thread without a clock is unknown. So its records stay as
 * they are, and unseen threads get no share of them. */
static void
killed_processes_stay_as_recorded(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_ages(1, 1, 16, 0, 0);
    add_ages(2, 2, 17, 3 * QUARTER, QUARTER);
    maker_add_running(2, 1, 1, 0);
    weigh_add_unseen(9, 1000 * US, 0);
    weigh_add_unseen(9, 700 * US, QUARTER);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 4);
    weigh_expect(profile, 0, FIRST, 16, 16000 * US, 16000 * US);
    weigh_expect(profile, 1, SECOND, 17, 17000 * US, 17000 * US);
    weigh_expect(profile, 1, FIRST, 1, 0, 0);
    weigh_expect(profile, 2, PROFILE_NOT_SAMPLED, 0, 1700 * US, 1700 * US);
    profile_free(profile);
}

/* Clocks are read one after the other, or began before the thread was profiled:
 * then there are records beyond what it used. */
static void
ages_may_lie_beyond_the_clock(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 1, 1000 * US);
    add_threads(2, 2, 7900 * US);
    add_ages(1, 1, 16, 1001 * US, BIN);
    add_ages(1, 2, 1, 5000000 * US, 0);
    add_ages(2, 1, 15, 31 * QUARTER, 0);
    profile = weigh_load(NULL);
    /* Up to 1.25 ms: 2.25 ms; beyond: 6.65 ms, of which one part for what is
     * older than eight periods. */
    weigh_expect(profile, 0, FIRST, 16, 2250 * US, 2250 * US);
    weigh_expect(profile, 0, SECOND, 1, 415625, 415625);
    weigh_expect(profile, 1, FIRST, 15, 6234375, 6234375);
    profile_free(profile);
}

/* Records of threads that are not short are no witnesses, whatever their age;
 * nor are those that found a thread waiting. */
static void
only_the_group_witnesses(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 1, 7999999);
    add_threads(2, 2, 8000000);
    add_ages(1, 1, 1, 0, 0);
    maker_add_sample(1, 2, 50, 202);
    add_ages(1, 2, 1, 7999 * US, 0);
    add_ages(2, 2, 40, 0, QUARTER);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 1, 3999999, 3999999);
    weigh_expect(profile, 0, SECOND, 1, 4000000, 4000000);
    weigh_expect(profile, 1, SECOND, 40, 8000000, 8000000);
    profile_free(profile);
}

/* What the threads used on their way into waits is taken from all ages by the
 * same factor, here a half. */
static void
waits_take_from_all_ages(void **state)
{
    const struct record_sample wait = {.cpu = 1000 * US,
                                       .count = 1,
                                       .thread = 1,
                                       .node = 1,
                                       .system_call = 202,
                                       .state = STATE_WAITING,
                                       .trigger = TRIGGER_ASK};
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_threads(1, 1, 1000 * US);
    add_threads(2, 2, 1000 * US);
    maker_append(RECORD_SAMPLE, &wait, sizeof wait, NULL, 0);
    add_ages(2, 1, 16, 0, BIN);
    add_ages(2, 2, 16, QUARTER, BIN);
    profile = weigh_load(NULL);
    weigh_expect(profile, 1, FIRST, 16, QUARTER, QUARTER);
    weigh_expect(profile, 1, SECOND, 16, 3 * QUARTER, 3 * QUARTER);
    assert_int_equal(profile->totals[VALUE_CPU], 2000 * US);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(short_threads_share_by_records),
        UNIT(short_threads_without_samples_stand_for_themselves),
        UNIT(unseen_threads_belong_to_the_group),
        UNIT(unseen_threads_are_not_sampled),
        UNIT(young_functions_get_what_was_young),
        UNIT(few_records_share_alike),
        UNIT(a_crowded_age_stands_for_itself),
        UNIT(unseen_threads_add_to_their_ages),
        UNIT(killed_processes_stay_as_recorded),
        UNIT(ages_may_lie_beyond_the_clock),
        UNIT(only_the_group_witnesses),
        UNIT(waits_take_from_all_ages),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
