/* SPDX-License-Identifier: MIT */
/*
 * confidence_test.c -- intervals contain the true share as often as they say,
 * and samples count by their weights.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/events.h"
#include "model/quality.h"
#include "read/load.h"
#include "view/confidence.h"
#include "write/output_file.h"

#include "profile_maker.h"

#define MS UINT64_C(1000000)

/* COUNT points of WEIGHT ns. */
static struct confidence
points(double count, double weight)
{
    return (struct confidence){count * weight, count * weight * weight};
}

/* The chance that the interval of a row contains its true SHARE, when COUNT
 * points are drawn. */
static double
coverage(unsigned count, double share)
{
    const struct confidence whole = points(count, 1e6);
    double sum = 0;
    for (unsigned i = 0; i <= count; i++) {
        const struct confidence row = points(i, 1e6);
        double chance = exp(lgamma(count + 1.0) - lgamma(i + 1.0) -
                            lgamma(count - i + 1.0) + i * log(share) +
                            (count - i) * log1p(-share));
        double error = confidence_interval(&row, &whole) / 100;
        if (fabs((double)i / count - share) <= error)
            sum += chance;
    }
    return sum;
}

static void
intervals_contain_the_truth(void **state)
{
    static const unsigned counts[] = {10, 30, 100, 1000};
    static const double shares[] = {0.005, 0.02, 0.1,  0.3,
                                    0.5,   0.8,  0.95, 0.99};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 8; j++)
            assert_true(coverage(counts[i], shares[j]) >= 0.92);
    const struct confidence half = points(500, 1e6), whole = points(1000, 1e6);
    assert_float_equal(confidence_interval(&half, &whole), 3.1, 0.05);
}

/* Twice the weight is half the points. */
static void
heavy_points_tell_less(void **state)
{
    (void)state;
    const struct confidence rest = points(500, 1e6);
    const struct confidence rows[] = {points(500, 1e6), points(250, 2e6)};
    double errors[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct confidence whole = {rest.value + rows[i].value,
                                         rest.squares + rows[i].squares};
        errors[i] = confidence_interval(&rows[i], &whole);
    }
    assert_float_equal(errors[1] / errors[0], sqrt(1.5), 0.01);
    const struct confidence few = points(4, 1e6), five = points(5, 1e6);
    assert_true(confidence_is_low(&few));
    assert_false(confidence_is_low(&five));
    const struct confidence exact = {1e6, 0}, nothing = {0, 0};
    assert_false(confidence_is_low(&exact));
    assert_true(confidence_is_low(&nothing));
}

/* Records of 8 times 1 ms and twice 4 ms, of a thread whose clock says twice as
 * much; 10 looks at a wait; and time that no sample saw. */
static struct profile *
example(bool keeps_events)
{
    struct profile *profile = profile_new(&(struct symbolizer_options){0});
    assert_non_null(profile);
    profile->keeps_events = keeps_events;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    for (unsigned i = 0; i < 10; i++)
        maker_add_timed(1, 1, 20 * i * MS, 1, i % 5 == 0 ? 4 * MS : MS,
                        100 * MS);
    maker_add_sample(1, 1, 10, 202);
    maker_add_end(1, 200 * MS, 32 * MS, 0);
    maker_add_end(2, 200 * MS, 50 * MS, 0);
    return maker_load(profile);
}

static void
samples_count_by_their_weights(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct profile *profile = example(i == 1);
        const struct profile_sample *ran =
            maker_find(profile, 0, 3, STATE_RUNNING);
        struct confidence sum = {(double)ran->values[VALUE_CPU],
                                 confidence_squares(profile, ran, VALUE_CPU)};
        assert_float_equal(sum.value, 32e6, 1);
        assert_float_equal(confidence_points(&sum), 6.4, 1e-6);
        assert_float_equal(confidence_squares(profile, ran, VALUE_WALL),
                           sum.squares, 1);
        const struct profile_sample *waited =
            maker_find(profile, 0, 3, STATE_WAITING);
        assert_float_equal(confidence_squares(profile, waited, VALUE_WALL),
                           10e12, 1);
        /* The sampler could afford one look in ten. */
        uint64_t looks;
        profile->cost.ticks = 10;
        profile->cost.skipped = 90;
        assert_float_equal(confidence_squares(profile, waited, VALUE_WALL),
                           10 * 10e12, 1);
        (void)quality_count(profile, &looks);
        assert_int_equal(looks, 1);
        profile->cost.skipped = 0;
        /* Thread 2 has time and no sample. */
        assert_float_equal(confidence_of(profile, VALUE_CPU).squares,
                           sum.squares, 1);
        if (i == 1) {
            assert_int_equal(events_clip(profile, 0, 90 * MS), 0);
            ran = maker_find(profile, 0, 3, STATE_RUNNING);
            sum = (struct confidence){(double)ran->values[VALUE_CPU],
                                      confidence_squares(profile, ran,
                                                         VALUE_CPU)};
            assert_float_equal(confidence_points(&sum), 64.0 / 20, 1e-6);
        }
        profile_free(profile);
        maker_forget(NULL);
    }
}

/* PROFILE as a pprof file and read again. */
static struct profile *
through_pprof(struct profile *profile)
{
    static const struct symbolizer_options options;
    char *bytes = NULL, error[256] = "";
    size_t length;
    FILE *stream = open_memstream(&bytes, &length);
    assert_non_null(stream);
    assert_int_equal(pprof_write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    struct profile *read = profile_new(&options);
    assert_int_equal(load_memory(read, bytes, length, "bytes", error,
                                 sizeof(error)),
                     0);
    free(bytes);
    return read;
}

/* Points of 1 ms and of 9 ms at one place: a pprof file has their sum alone.
 * Its comment has what the sum of their squares is. */
static void
a_pprof_file_keeps_the_spread(void **state)
{
    (void)state;
    maker_name(0x10, "work", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_running(1, 1, 10, 10 * MS);
    maker_add_running(1, 1, 10, 90 * MS);
    struct profile *profile = maker_load(NULL);
    struct confidence whole = confidence_of(profile, VALUE_CPU);
    assert_float_equal(whole.squares / (10e12 + 810e12), 1, 1e-6);
    struct profile *read = through_pprof(profile);
    assert_int_equal(read->totals[VALUE_CPU], 100 * MS);
    assert_false(read->lacks_spread);
    assert_float_equal(confidence_of(read, VALUE_CPU).squares / whole.squares,
                       1, 1e-5);
    /* A copy of it says the same. */
    struct profile *copy = through_pprof(read);
    assert_float_equal(confidence_of(copy, VALUE_CPU).squares / whole.squares,
                       1, 1e-5);
    profile_free(copy);
    profile_free(read);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_contain_the_truth),
        cmocka_unit_test(heavy_points_tell_less),
        UNIT(samples_count_by_their_weights),
        UNIT(a_pprof_file_keeps_the_spread),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
