/* SPDX-License-Identifier: MIT */
/*
 * quality_test.c -- what every output says of a profile: the rate that was
 * reached and why, and how many of the stacks are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/quality.h"

#include "profile_maker.h"

/* As maker_add_counts, but with 21 stacks that are cut of 20 of running and 2
 * of waiting threads. */
static void
add_counts(void)
{
    const struct record_counts record = {.asked = 20,
                                         .taken = 20,
                                         .peeked = 2,
                                         .loss_count = LOSS_COUNT,
                                         .cut_count = CUT_COUNT};
    uint64_t causes[LOSS_COUNT + CUT_COUNT] = {[LOSS_COUNT + CUT_NO_RULE] = 21};
    const struct writer_tail tail = {causes, sizeof causes};

    maker_append(RECORD_COUNTS, &record, sizeof record, &tail, 1);
}

static struct profile *
load_rated(struct profile *profile)
{
    maker_add_head();
    add_counts();
    maker_add_rate();
    return maker_load(profile);
}

static void
a_rate_has_its_reason(void **state)
{
    struct profile *profile = load_rated(NULL);
    char text[512];

    (void)state;
    assert_string_equal(
        quality_rate(profile, text, sizeof text),
        "20 samples in 0.040 s of CPU: 500 a CPU second of 1,000 asked "
        "(timers, 250 Hz: threads switch too often; points that come together "
        "are one sample)");
    assert_string_equal(
        quality_due(profile, text, sizeof text),
        "40 points in 0.040000 s: 20 taken, 0 lost, 20 not asked: "
        "2 merged, 18 switches");
    /* Of several processes it is that of all together. */
    profile = load_rated(profile);
    assert_string_equal(
        quality_due(profile, text, sizeof text),
        "80 points in 0.080000 s: 40 taken, 0 lost, 40 not asked: "
        "4 merged, 36 switches");
    profile_free(profile);
}

static void
cut_stacks_are_some_of_all(void **state)
{
    struct profile *profile = load_rated(NULL);
    char text[512];

    (void)state;
    assert_string_equal(quality_cuts(profile, text, sizeof text),
                        "21 of 22 stacks: 21 no rule");
    profile_free(profile);
}

/* As a file of an older version. */
static void
an_unknown_rate_is_not_told(void **state)
{
    struct profile *profile;
    char text[512];

    (void)state;
    maker_add_head();
    add_counts();
    profile = maker_load(NULL);
    assert_string_equal(quality_rate(profile, text, sizeof text), "");
    assert_string_equal(quality_due(profile, text, sizeof text), "");
    profile_free(profile);
}

/* Counters of a killed process are older than its samples. */
static void
the_cost_is_of_all_that_is_known(void **state)
{
    (void)state;
    struct profile *profile = load_rated(NULL);
    uint64_t of;
    bool is_wall;
    profile->cost.sampler_cpu = 1000000;
    profile->cost.process_cpu = 2000000;
    profile->totals[VALUE_CPU] = 99000000;
    profile->duration = 100000000;
    double percent = quality_cost_share(profile, &of, &is_wall);
    assert_int_equal(of, 100000000);
    assert_false(is_wall);
    assert_true(percent > 0.999 && percent < 1.001);
    profile->cost.process_cpu = 200000000;
    assert_true(quality_cost_share(profile, &of, &is_wall) < 0.501);
    assert_int_equal(of, 200000000);
    profile_free(profile);
}

/* Half of next to no CPU time is no cost to worry about. */
static void
the_cost_of_a_program_that_waits_is_of_the_time(void **state)
{
    (void)state;
    struct profile *profile = load_rated(NULL);
    char text[512];
    uint64_t of;
    bool is_wall;
    profile->cost.sampler_cpu = 30000000;
    profile->cost.process_cpu = 60000000;
    profile->totals[VALUE_CPU] = 30000000;
    profile->duration = 10000000000;
    double percent = quality_cost_share(profile, &of, &is_wall);
    assert_true(is_wall);
    assert_int_equal(of, 10000000000);
    assert_true(percent > 0.299 && percent < 0.301);
    assert_non_null(strstr(quality_cost(profile, text, sizeof(text)),
                           "0.3 % of 10.000 s that passed;"));
    profile_free(profile);
}

static void
processes_without_samples_are_told(void **state)
{
    (void)state;
    char text[512];
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    struct profile *profile = maker_load(NULL);
    assert_string_equal(quality_samples(profile, text, sizeof(text)),
                        "3 of 1 thread");
    profile = load_rated(profile);
    assert_string_equal(quality_samples(profile, text, sizeof(text)),
                        "3 of 1 thread in 1 of 2 processes");
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_rate_has_its_reason),
        UNIT(cut_stacks_are_some_of_all),
        UNIT(an_unknown_rate_is_not_told),
        UNIT(the_cost_is_of_all_that_is_known),
        UNIT(the_cost_of_a_program_that_waits_is_of_the_time),
        UNIT(processes_without_samples_are_told),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
