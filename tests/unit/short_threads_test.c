/* SPDX-License-Identifier: MIT */
/*
 * short_threads_test.c -- bins and strata of ages alone. A period is 64,000
 * ns unless a test says otherwise, so a bin is 1,000 ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read/short_threads.h"

static struct short_threads threads;

/* COUNT notes at AGE. */
static void
note(unsigned count, uint64_t age)
{
    for (unsigned i = 0; i < count; i++)
        short_threads_add_note(&threads, age);
}

/* What COUNT notes at AGE get together. */
static uint64_t
shares(unsigned count, uint64_t age)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += short_threads_share(&threads, age);
    return sum;
}

static void
eight_periods_are_covered(void **state)
{
    (void)state;
    assert_true(short_threads_cover(1000, 0));
    assert_true(short_threads_cover(1000, 7999));
    assert_false(short_threads_cover(1000, 8000));
    assert_true(short_threads_cover(1003009, 8024071));
    assert_false(short_threads_cover(1003009, 8024072));
    assert_false(short_threads_cover(0, 0));
    assert_true(short_threads_cover(1ull << 61, UINT64_MAX));
}

/* The bins in which a thread has its CPU time are full but for the last. */
static void
a_thread_fills_its_bins(void **state)
{
    (void)state;
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 0);
    short_threads_add_thread(&threads, 2400);
    short_threads_add_thread(&threads, 1000);
    short_threads_add_thread(&threads, 511999);
    assert_int_equal(threads.bins[0].mass, 3000);
    assert_int_equal(threads.bins[1].mass, 2000);
    assert_int_equal(threads.bins[2].mass, 1400);
    for (unsigned i = 3; i < SHORT_THREADS_BINS - 1; i++)
        assert_int_equal(threads.bins[i].mass, 1000);
    assert_int_equal(threads.bins[SHORT_THREADS_BINS - 1].mass, 999);
}

/* A quarter of 64,203 is 16,050.75. Its start may be rounded either way. */
static void
a_quarter_is_sixteen_bins(void **state)
{
    const unsigned quarters = SHORT_THREADS_BINS / SHORT_THREADS_QUARTER;
    (void)state;
    short_threads_begin(&threads, 64203);
    for (unsigned i = 0; i < quarters; i++) {
        short_threads_add_mass(&threads, i * 64203 / 4, 16);
        short_threads_add_mass(&threads, (i * 64203 + 3) / 4, 16);
    }
    for (unsigned i = 0; i < SHORT_THREADS_BINS; i++)
        assert_int_equal(threads.bins[i].mass, 2);
    short_threads_add_mass(&threads, 8 * 64203, 16);
    short_threads_add_mass(&threads, UINT64_MAX, 17);
    assert_int_equal(threads.bins[SHORT_THREADS_BINS - 17].mass, 2);
    assert_int_equal(threads.bins[SHORT_THREADS_BINS - 16].mass, 4);
    assert_int_equal(threads.bins[SHORT_THREADS_BINS - 1].mass, 5);
}

/* Notes of some bins:   -  10  6 | -  9  2  7 | ...  5 */
static void
neighbours_are_joined(void **state)
{
    (void)state;
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 511000);
    note(10, 1000);
    note(6, 2999);
    note(9, 4000);
    note(2, 5500);
    note(7, 6000);
    note(5, 500000);
    short_threads_finish(&threads, 511000);
    assert_int_equal(shares(10, 1500), 1875);
    assert_int_equal(shares(6, 2000), 1125);
    /* 18 would be enough, but 5 are too few for the rest. */
    assert_int_equal(shares(23, 500000), 508000);
}

/* Notes of some bins:   3  4 | 30 | 20 | -  3  25 | -  17 */
static void
a_dense_bin_is_a_stratum(void **state)
{
    (void)state;
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 9000);
    note(3, 0);
    note(4, 1000);
    note(30, 2000);
    note(20, 3000);
    note(3, 5000);
    note(25, 6000);
    note(17, 8000);
    short_threads_finish(&threads, 9000);
    assert_int_equal(shares(7, 0), 2000);
    assert_int_equal(shares(30, 2999), 1000);
    assert_int_equal(shares(20, 3000), 1000);
    /* 3 are too few for a stratum of their own. They join the older one: the
     * bin before, which is dense, ends with its own ages. */
    assert_int_equal(shares(28, 5000), 3000);
    assert_int_equal(shares(17, 8000), 2000);
}

static void
what_is_left_joins_the_last(void **state)
{
    (void)state;
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 7000);
    note(16, 0);
    note(16, 1000);
    note(15, 5000);
    short_threads_finish(&threads, 7000);
    assert_int_equal(shares(16, 0), 1000);
    assert_int_equal(shares(31, 5000), 6000);
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 7000);
    note(16, 0);
    note(16, 1000);
    note(16, 5000);
    short_threads_finish(&threads, 7000);
    assert_int_equal(shares(16, 0), 1000);
    assert_int_equal(shares(16, 1000), 1000);
    assert_int_equal(shares(16, 5000), 5000);
}

static void
few_notes_are_one_stratum(void **state)
{
    (void)state;
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 1500);
    note(1, 0);
    note(14, 7000);
    short_threads_finish(&threads, 1500);
    assert_int_equal(shares(1, 0), 100);
    assert_int_equal(shares(14, 7000), 1400);
    short_threads_begin(&threads, 64000);
    short_threads_add_thread(&threads, 1500);
    short_threads_finish(&threads, 1500);
    assert_int_equal(threads.notes, 0);
}

/* Whatever is taken off, and however the strata fall: all shares are DUE, and
 * those of one stratum differ by 1 at the most. */
static void
nothing_is_lost_by_rounding(void **state)
{
    (void)state;
    for (uint64_t due = 20000; due <= 31991; due += 997) {
        uint64_t sum = 0;
        short_threads_begin(&threads, 64000);
        for (unsigned i = 0; i < 4; i++)
            short_threads_add_thread(&threads, 511993);
        short_threads_add_mass(&threads, 500, 19);
        for (unsigned i = 0; i < 331; i++)
            note(1, i * 1536);
        short_threads_finish(&threads, due);
        for (unsigned i = 0; i < 331; i++) {
            struct share stratum =
                threads.strata[threads.bins[i * 1536 / 1000].stratum];
            uint64_t share = short_threads_share(&threads, i * 1536);
            assert_in_range(share, stratum.due / stratum.weight,
                            stratum.due / stratum.weight + 1);
            assert_in_range(stratum.weight, SHORT_THREADS_LEAST,
                            2 * SHORT_THREADS_LEAST);
            sum += share;
        }
        assert_int_equal(sum, due);
    }
}

/* Each age has less by the same factor. */
static void
less_is_due_than_there_was(void **state)
{
    (void)state;
    short_threads_begin(&threads, 64000);
    short_threads_add_mass(&threads, 0, 9000);
    short_threads_add_mass(&threads, 16000, 300);
    short_threads_add_mass(&threads, 32000, 700);
    for (unsigned i = 0; i < 3 * SHORT_THREADS_QUARTER; i++)
        note(1, i * 1000);
    short_threads_finish(&threads, 1000);
    assert_int_equal(shares(16, 0), 900);
    assert_int_equal(shares(16, 16000), 30);
    assert_int_equal(shares(16, 32000), 70);
}

/* The limit of sums is INT64_MAX, and what is shared is still all of it. */
static void
hostile_numbers_are_harmless(void **state)
{
    static const uint64_t numbers[] = {0,         1,          3,
                                       INT64_MAX, 1ull << 63, UINT64_MAX};

    (void)state;
    for (unsigned i = 0; i < 6 * 6; i++) {
        short_threads_begin(&threads, numbers[i / 6]);
        short_threads_add_thread(&threads, numbers[i % 6]);
        short_threads_add_mass(&threads, 0, 1ull << 63);
        short_threads_add_mass(&threads, 0, 1ull << 63);
        note(16, numbers[i / 6]);
        note(16, numbers[i % 6]);
        short_threads_finish(&threads, INT64_MAX);
        assert_int_equal(shares(16, numbers[i / 6]) +
                             shares(16, numbers[i % 6]),
                         INT64_MAX);
    }
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        cmocka_unit_test(eight_periods_are_covered),
        cmocka_unit_test(a_thread_fills_its_bins),
        cmocka_unit_test(a_quarter_is_sixteen_bins),
        cmocka_unit_test(neighbours_are_joined),
        cmocka_unit_test(a_dense_bin_is_a_stratum),
        cmocka_unit_test(what_is_left_joins_the_last),
        cmocka_unit_test(few_notes_are_one_stratum),
        cmocka_unit_test(nothing_is_lost_by_rounding),
        cmocka_unit_test(less_is_due_than_there_was),
        cmocka_unit_test(hostile_numbers_are_harmless),
    };

    return cmocka_run_group_tests(units, NULL, NULL);
}
