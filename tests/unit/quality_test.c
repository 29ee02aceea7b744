/* SPDX-License-Identifier: MIT */
/*
 * quality_test.c -- what every output says of a profile: the rate that was
 * reached and why, and how many of the stacks are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_rate_has_its_reason),
        UNIT(cut_stacks_are_some_of_all),
        UNIT(an_unknown_rate_is_not_told),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
