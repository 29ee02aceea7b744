/* SPDX-License-Identifier: MIT */
/*
 * watch_test.c -- a spool that is looked at while it is written: intervals, CPU
 * time by the threads' clocks, filters, names. A period is 1 ms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#include "watch_maker.h"

static void
an_interval_is_what_is_new(void **state)
{
    struct watch *watch;

    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 1 * MS, MS);
    add_run(1, 3, 3 * MS, 2 * MS, MS);
    watch = open_watch();
    look_again(watch, 5 * MS);
    /* The first interval is all there is. */
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 2 * MS, 2 * MS);
    expect_times(watch, "work", SPAN_ALL, VALUE_CPU, 0, 2 * MS);
    assert_float_equal(
        find_row(watch, "main")->total.squares[SPAN_ALL][VALUE_CPU], 2e12, 1);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 0, 2 * MS);
    assert_int_equal(watch->length[SPAN_ALL], 3 * MS);
    assert_int_equal(watch->length[SPAN_INTERVAL], 3 * MS);
    add_run(1, 1, 6 * MS, 3 * MS, MS);
    look_again(watch, 7 * MS);
    expect_times(watch, "main", SPAN_INTERVAL, VALUE_CPU, 1 * MS, 1 * MS);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 1 * MS, 3 * MS);
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 0, 0);
    expect_times(watch, "inner", SPAN_ALL, VALUE_CPU, 2 * MS, 2 * MS);
    assert_float_equal(watch->totals.squares[SPAN_INTERVAL][VALUE_CPU], 1e12,
                       1);
    assert_float_equal(watch->totals.squares[SPAN_ALL][VALUE_CPU], 3e12, 1);
    assert_int_equal(watch->length[SPAN_INTERVAL], 2 * MS);
    assert_int_equal(watch->totals.values[SPAN_INTERVAL][VALUE_CPU], 1 * MS);
    assert_int_equal(watch->everything.values[SPAN_ALL][VALUE_SAMPLES], 3);
    expect_state(watch, 0, "running", "");
    expect_state(watch, 1, "-", "");
    /* Nothing new is nothing. */
    look_again(watch, 8 * MS);
    expect_times(watch, "main", SPAN_INTERVAL, VALUE_CPU, 0, 0);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 1 * MS, 3 * MS);
    expect_state(watch, 0, "-", "");
    close_watch(watch);
}

/* Its clock says more than two samples do, and then less. */
static void
samples_share_what_the_clock_says(void **state)
{
    struct watch *watch;

    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 3 * MS, MS);
    add_run(1, 1, 3 * MS, 6 * MS, MS);
    watch = open_watch();
    look_again(watch, 5 * MS);
    expect_times(watch, "inner", SPAN_ALL, VALUE_CPU, 3 * MS, 3 * MS);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 3 * MS, 6 * MS);
    expect_times(watch, "main", SPAN_ALL, VALUE_WALL, 3 * MS, 6 * MS);
    for (unsigned i = 0; i < 4; i++)
        add_run(1, 2, (6 + i) * MS, 7 * MS, MS);
    look_again(watch, 10 * MS);
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 1 * MS, 1 * MS);
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_SAMPLES, 4, 4);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 3 * MS, 7 * MS);
    /* The end tells the rest, which is the last sample's. */
    maker_add_end(1, 11 * MS, 9 * MS, THREAD_END_EXACT);
    /* And this thread had none. */
    maker_add_end(2, 11 * MS, 5 * MS, THREAD_END_EXACT);
    look_again(watch, 12 * MS);
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 2 * MS, 2 * MS);
    expect_times(watch, "[not sampled]", SPAN_ALL, VALUE_CPU, 5 * MS, 5 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 14 * MS);
    expect_state(watch, 0, "ended", "");
    close_watch(watch);
}

/* Sampling may pause, and a recorder begins a new file. Neither is the end of a
 * thread. */
static void
a_thread_outlives_a_session(void **state)
{
    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 3 * MS, MS);
    maker_add_end(1, 4 * MS, 3 * MS, THREAD_END_EXACT | THREAD_END_ALIVE);
    struct watch *watch = open_watch();
    look_again(watch, 5 * MS);
    expect_state(watch, 0, "running", "");
    begin_wait(1, 6 * MS, 0);
    look_again(watch, 9 * MS);
    assert_true(watch->profile->threads[0].end == UINT64_MAX);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 3 * MS, 3 * MS);
    maker_add_end(1, 9 * MS, 3 * MS, THREAD_END_EXACT);
    look_again(watch, 10 * MS);
    expect_state(watch, 0, "ended", "");
    close_watch(watch);
}

/* The last samples of a thread say less than its clock at the end: the handler
 * of an old thread does not read the clock. All of them share the rest. */
static void
waiting_samples_share_the_rest(void **state)
{
    struct watch *watch;

    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 80 * MS, 80 * MS);
    add_run(1, 2, 3 * MS, 80 * MS, 10 * MS);
    add_run(1, 1, 4 * MS, 80 * MS, 10 * MS);
    maker_add_end(1, 11 * MS, 100 * MS, THREAD_END_EXACT);
    watch = open_watch();
    look_again(watch, 12 * MS);
    expect_times(watch, "inner", SPAN_ALL, VALUE_CPU, 90 * MS, 90 * MS);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 10 * MS, 100 * MS);
    close_watch(watch);
}

/* Without clocks, samples stay as they were recorded. */
static void
samples_without_a_clock_stay(void **state)
{
    struct watch *watch;

    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 0, MS);
    add_run(1, 2, 3 * MS, 0, 3 * MS);
    watch = open_watch();
    look_again(watch, 5 * MS);
    expect_times(watch, "inner", SPAN_ALL, VALUE_CPU, 4 * MS, 4 * MS);
    close_watch(watch);
}

/* A runtime writes what its code is called after it was seen to run. */
static void
generated_code_gets_its_names(void **state)
{
    uint64_t now = clock_realtime();
    struct watch *watch;
    char path[64];
    FILE *file;

    (void)state;
    begin_spool();
    maker_add_node(5, 1, 0, 0x7008, 0);
    add_run(1, 5, 2 * MS, MS, MS);
    watch = open_watch();
    look_again(watch, now);
    watch->profile->processes[0].pid = (uint32_t)getpid();
    expect_times(watch, "?", SPAN_ALL, VALUE_CPU, MS, MS);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("7000 10 compiled\n", file);
    assert_int_equal(fclose(file), 0);
    look_again(watch, now + MS);
    assert_int_equal(unlink(path), 0);
    expect_times(watch, "compiled", SPAN_ALL, VALUE_CPU, MS, MS);
    expect_times(watch, "compiled", SPAN_INTERVAL, VALUE_CPU, 0, 0);
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 0, MS);
    expect_times(watch, "?", SPAN_ALL, VALUE_CPU, 0, 0);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], MS);
    assert_int_equal(
        watch->threads[0].states[STATE_RUNNING].values[SPAN_ALL][VALUE_CPU],
        MS);
    close_watch(watch);
}

static void
filters_choose(void **state)
{
    char error[256];
    struct watch *watch;

    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 1 * MS, MS);
    add_run(2, 2, 2 * MS, 2 * MS, MS);
    add_run(2, 1, 8 * MS, 4 * MS, MS);
    begin_wait(2, 4 * MS, 0);
    filter_add_label(&filter, "thread", "work*");
    filter_add_expression(&filter, FILTER_IGNORE, "^inner$", error,
                          sizeof error);
    filter.has_time = true;
    filter.from = 6 * MS;
    filter.to = 100 * MS;
    watch = open_watch();
    look_again(watch, 10 * MS);
    /* Shared are the clock's 4 ms by two samples, of which one is too early. */
    expect_times(watch, "main", SPAN_ALL, VALUE_CPU, 2 * MS, 2 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 4 * MS, 4 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 2 * MS);
    assert_int_equal(watch->everything.values[SPAN_ALL][VALUE_CPU], 5 * MS);
    assert_int_equal(
        watch->threads[0].states[STATE_RUNNING].values[SPAN_ALL][VALUE_CPU], 0);
    assert_string_equal(watch->profile->filter,
                        "--thread work* --ignore ^inner$ --time 0.006-0.1");
    add_run(2, 2, 11 * MS, 5 * MS, MS);
    look_again(watch, 200 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 2 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 94 * MS, 94 * MS);
    close_watch(watch);
}

/* The filter asks for a name that the thread gets later. */
static void
filters_follow_names(void **state)
{
    struct watch *watch;

    (void)state;
    begin_spool();
    add_run(1, 2, 2 * MS, 1 * MS, MS);
    add_run(2, 2, 2 * MS, 1 * MS, MS);
    filter_add_label(&filter, "thread", "renamed");
    watch = open_watch();
    look_again(watch, 3 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 0);
    maker_add_thread(1, 4711, "renamed");
    add_run(1, 2, 4 * MS, 2 * MS, MS);
    look_again(watch, 5 * MS);
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 1 * MS, 1 * MS);
    expect_times(watch, "inner", SPAN_ALL, VALUE_CPU, 2 * MS, 2 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 2 * MS);
    close_watch(watch);
}

/* Memory goes with stacks, not with samples; the shares stay exact. */
static void
many_samples_are_few_stacks(void **state)
{
    enum { COUNT = 200000 };
    struct watch *watch;

    (void)state;
    begin_spool();
    for (uint64_t i = 1; i <= COUNT; i++)
        add_run(1, 1 + i % 3, i * MS, i * MS + i % 7, MS);
    watch = open_watch();
    look_again(watch, (COUNT + 1) * (uint64_t)MS);
    assert_int_equal(watch->sample_count, 3);
    assert_true(watch->fresh_count == 0 && watch->record_count == 0);
    assert_int_equal(watch->everything.values[SPAN_ALL][VALUE_SAMPLES], COUNT);
    assert_int_equal(watch->everything.values[SPAN_ALL][VALUE_CPU],
                     COUNT * (int64_t)MS + COUNT % 7);
    close_watch(watch);
}

/* Later records: a new name, another module, the state and the end. */
static void
what_changes_is_seen(void **state)
{
    const struct record_control control = {.state = CONTROL_WAITING};
    const struct record_summary summary = {.time = 9 * MS, .reason = END_EXEC};
    const uint32_t stopped = CONTROL_STOPPED;
    uint64_t place;
    struct watch *watch;

    (void)state;
    begin_spool();
    place = writer_append(maker_writer, RECORD_CONTROL, &control,
                          sizeof control, NULL, 0);
    watch = open_watch();
    look_again(watch, 2 * MS);
    assert_true(watch->has_control && watch->control == CONTROL_WAITING);
    writer_change(maker_writer, place, offsetof(struct record_control, state),
                  &stopped, sizeof stopped);
    maker_add_thread(1, 4711, "renamed");
    maker_add_module(3, "/lib/liby.so");
    maker_add_node(5, 1, 3, 0x30, 0);
    add_run(1, 5, 3 * MS, MS, MS);
    look_again(watch, 4 * MS);
    assert_int_equal(watch->control, CONTROL_STOPPED);
    assert_string_equal(watch->profile->threads[0].name, "renamed");
    assert_string_equal(find_row(watch, "wait")->module, "liby.so");
    assert_false(watch->has_ended);
    maker_append(RECORD_SUMMARY, &summary, sizeof summary, NULL, 0);
    look_again(watch, 5 * MS);
    assert_true(watch->has_ended && watch->reason == END_EXEC);
    close_watch(watch);
}

/* Numbers that no writer wrote: nothing is read beyond the file, and no sum
 * overflows. */
static void
nonsense_does_no_harm(void **state)
{
    struct record_sample record;
    struct watch *watch;

    (void)state;
    begin_spool();
    watch = open_watch();
    for (unsigned i = 0; i < 200; i++) {
        memset(&record, i & 1 ? 0xff : 0x7f, sizeof record);
        record.thread = 1 + i % 3;
        record.node = i % 6;
        record.state = (uint8_t)(i % 5);
        record.trigger = (uint8_t)(i % 7);
        record.waits_on = i % 2;
        record.flags = i % 4;
        maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
        maker_add_end(1 + i % 3, i % 2 ? UINT64_MAX : 7, UINT64_MAX, 1);
        look_again(watch, i % 3 ? UINT64_MAX : i);
    }
    assert_true(watch->profile->problems > 0);
    close_watch(watch);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(an_interval_is_what_is_new),
        UNIT(samples_share_what_the_clock_says),
        UNIT(a_thread_outlives_a_session),
        UNIT(waiting_samples_share_the_rest),
        UNIT(samples_without_a_clock_stay),
        UNIT(generated_code_gets_its_names),
        cmocka_unit_test_setup_teardown(filters_choose, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(filters_follow_names, maker_forget,
                                        maker_clean),
        UNIT(many_samples_are_few_stacks),
        cmocka_unit_test_setup_teardown(what_changes_is_seen, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(nonsense_does_no_harm, maker_forget,
                                        maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
