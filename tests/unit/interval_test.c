/* SPDX-License-Identifier: MIT */
/*
 * interval_test.c -- intervals of a spool that is written meanwhile: nothing is
 * missing and nothing is in two of them, also when another process goes on from
 * a saved position. A period is 1 ms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/interval.h"
#include "read/load.h"

#include "watch_maker.h"

#define WAIT_HELD (UINT64_C(100) * MS)

/* What all intervals of a test have so far. */
static uint64_t sums[VALUE_COUNT];

static const char *
spool_path(void)
{
    return writer_file(maker_writer)->path;
}

static struct interval *
open_interval(const char *path)
{
    const struct symbolizer_options options = {.inlines = true};
    char error[512];
    struct interval *interval =
        interval_open(path, &options, error, sizeof error);
    assert_non_null(interval);
    assert_string_equal(error, "");
    return interval;
}

static void
add_sums(const struct interval *interval)
{
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sums[i] += interval_profile(interval)->totals[i];
}

static void
take(struct interval *interval, uint64_t tick)
{
    set_tick(tick);
    assert_int_equal(interval_take(interval), 0);
    assert_null(interval_problem(interval));
    maker_expect_sums(interval_profile(interval));
    add_sums(interval);
}

static void
expect(const struct interval *interval, uint64_t count, uint64_t cpu,
       uint64_t wall)
{
    const uint64_t *totals = interval_profile(interval)->totals;
    assert_int_equal(totals[VALUE_SAMPLES], count);
    assert_int_equal(totals[VALUE_CPU], cpu);
    assert_int_equal(totals[VALUE_WALL], wall);
}

/* Take the rest of the spool, and hold all sums against those of a report. */
static void
finish(struct interval *interval)
{
    const struct symbolizer_options options = {.inlines = true};
    char error[512];
    const char *path = maker_finish();
    assert_int_equal(interval_finish(interval), 0);
    maker_expect_sums(interval_profile(interval));
    add_sums(interval);
    struct profile *profile = profile_new(&options);
    assert_int_equal(load_file(profile, path, error, sizeof error), 0);
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        assert_int_equal(sums[i], profile->totals[i]);
    profile_free(profile);
    interval_close(interval);
}

/* Go on as another process would. */
static struct interval *
pass_on(struct interval *interval)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    interval_position_save(interval, stream);
    fclose(stream);
    char *name = strdup(interval_name(interval));
    interval_close(interval);
    struct interval *next = open_interval(spool_path());
    assert_string_equal(interval_name(next), name);
    free(name);
    stream = fmemopen(text, size, "r");
    assert_int_equal(interval_position_resume(next, stream), 0);
    fclose(stream);
    free(text);
    return next;
}

static int
begin(void **state)
{
    (void)state;
    memset(sums, 0, sizeof sums);
    begin_spool();
    return 0;
}

static void
each_sample_is_in_one_interval(void **state)
{
    (void)state;
    add_run(1, 2, 2 * MS, 1 * MS, MS);
    add_run(1, 3, 3 * MS, 2 * MS, MS);
    struct interval *interval = open_interval(spool_path());
    take(interval, 5 * MS);
    expect(interval, 2, 2 * MS, 2 * MS);
    assert_int_equal(interval_profile(interval)->sample_count, 2);
    take(interval, 6 * MS);
    expect(interval, 0, 0, 0);
    assert_int_equal(interval_profile(interval)->sample_count, 0);
    assert_int_equal(interval_profile(interval)->duration, 1 * MS);
    add_run(1, 2, 7 * MS, 4 * MS, MS);
    take(interval, 8 * MS);
    /* The clock says more than the sample does. */
    expect(interval, 1, 2 * MS, 2 * MS);
    assert_int_equal(interval_profile(interval)->start -
                         interval_process(interval)->start,
                     6 * MS);
    maker_add_end(1, 9 * MS, 5 * MS, THREAD_END_EXACT);
    finish(interval);
    assert_int_equal(sums[VALUE_CPU], 5 * MS);
}

static void
a_wait_grows_until_it_ends(void **state)
{
    (void)state;
    struct interval *interval = open_interval(spool_path());
    struct kept_wait wait = begin_wait(1, 0, 0);
    take(interval, WAIT_HELD + 10 * MS);
    expect(interval, 11, 0, 10 * MS);
    take(interval, WAIT_HELD + 30 * MS);
    expect(interval, 20, 0, 20 * MS);
    /* It ended earlier than that: nothing is taken twice. */
    store_wait(&wait, 25 * MS, 0);
    take(interval, WAIT_HELD + 40 * MS);
    expect(interval, 0, 0, 0);
    wait = begin_wait(1, 26 * MS, 0);
    take(interval, WAIT_HELD + 40 * MS);
    expect(interval, 9, 0, 9 * MS);
    finish(interval);
}

static void
another_process_goes_on(void **state)
{
    (void)state;
    struct interval *interval = open_interval(spool_path());
    add_run(1, 2, 2 * MS, 1 * MS, MS);
    struct kept_wait wait = begin_wait(2, 3 * MS, 0);
    take(interval, WAIT_HELD + 8 * MS);
    expect(interval, 7, 1 * MS, 6 * MS);
    interval = pass_on(interval);
    take(interval, WAIT_HELD + 8 * MS);
    expect(interval, 0, 0, 0);
    add_run(1, 3, 9 * MS, 3 * MS, MS);
    store_wait(&wait, 200 * MS, 0);
    interval = pass_on(interval);
    take(interval, WAIT_HELD + 100 * MS);
    expect(interval, 1 + 194, 2 * MS, 2 * MS + 195 * MS);
    interval = pass_on(interval);
    maker_add_end(1, 210 * MS, 4 * MS, THREAD_END_EXACT);
    maker_add_end(2, 210 * MS, 0, THREAD_END_EXACT);
    finish(interval);
    assert_int_equal(sums[VALUE_CPU], 4 * MS);
}

/* The report shares the time of short threads in another way. */
static void
short_threads_are_whole(void **state)
{
    (void)state;
    struct interval *interval = open_interval(spool_path());
    for (uint32_t i = 3; i < 200; i++) {
        maker_add_thread(i, 100 + i, "short");
        if (i % 7 == 0)
            add_run(i, 2, i * MS, 1 * MS, MS);
        maker_add_end(i, i * MS + MS, MS / 2 + i * 1001, THREAD_END_EXACT);
        if (i % 50 == 0)
            take(interval, i * MS);
    }
    finish(interval);
    assert_true(sums[VALUE_CPU] > 100 * MS);
}

/* Without the end of a thread a report adds up what the samples recorded. */
static void
a_killed_process_is_whole(void **state)
{
    (void)state;
    struct interval *interval = open_interval(spool_path());
    add_run(1, 2, 2 * MS, 3 * MS, MS);
    take(interval, 5 * MS);
    expect(interval, 1, 3 * MS, 3 * MS);
    for (unsigned i = 0; i < 4; i++)
        add_run(1, 3, (10 + i) * MS, (4 + i) * MS, MS);
    begin_wait(1, 20 * MS, 0);
    set_tick(50 * MS);
    finish(interval);
    assert_int_equal(sums[VALUE_CPU], 5 * MS);
    assert_int_equal(sums[VALUE_WALL], 35 * MS);
}

static void
a_position_that_is_no_position(void **state)
{
    static const char *const texts[] = {
        "",
        "position\n",
        "position 0 0\nend\n",
        "position 64 0\ntaken 1\nend\n",
        "position 64 0\nthread 9 0 0 0\nend\n",
        "position 64 0\nkept 64 0\nend\n",
        "position 64 0\n",
        "nonsense\n",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct interval *interval = open_interval(spool_path());
        FILE *stream = fmemopen((void *)texts[i], strlen(texts[i]) + 1, "r");
        assert_int_equal(interval_position_resume(interval, stream), -1);
        fclose(stream);
        interval_close(interval);
    }
    maker_finish();
}

static void
it_says_which_file_it_reads(void **state)
{
    (void)state;
    char path[4096], other[4096 + 8], error[512];
    struct interval *interval = open_interval(spool_path());
    snprintf(path, sizeof path, "%s", spool_path());
    snprintf(other, sizeof other, "%s.past", path);
    assert_true(interval_is_at(interval, path));
    assert_int_equal(rename(path, other), 0);
    assert_false(interval_is_at(interval, path));
    assert_true(interval_is_at(interval, other));
    assert_false(interval_is_over(interval));
    maker_finish();
    interval_close(interval);
    assert_null(interval_open("/nowhere", NULL, error, sizeof error));
    assert_non_null(strstr(error, "/nowhere"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_sample_is_in_one_interval, begin,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(a_wait_grows_until_it_ends, begin,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(another_process_goes_on, begin,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(short_threads_are_whole, begin,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(a_killed_process_is_whole, begin,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(a_position_that_is_no_position, begin,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(it_says_which_file_it_reads, begin,
                                        maker_clean),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
