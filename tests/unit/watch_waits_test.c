/* SPDX-License-Identifier: MIT */
/*
 * watch_waits_test.c -- what changes in place while a spool is looked at: waits
 * that go on, end and begin again, and the CPU time of threads without samples.
 * A period is 1 ms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch_maker.h"

static void
waits_go_on_in_place(void **state)
{
    struct kept_wait wait;
    struct watch *watch;

    (void)state;
    begin_spool();
    maker_add_text(1, "mutex of worker");
    wait = begin_wait(1, 2 * MS, 1);
    watch = open_watch();
    look_again(watch, 12 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 10 * MS, 10 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_SAMPLES, 11, 11);
    expect_state(watch, 0, "futex", "mutex of worker");
    look_again(watch, 15 * MS);
    expect_times(watch, "wait", SPAN_INTERVAL, VALUE_WALL, 3 * MS, 3 * MS);
    expect_times(watch, "main", SPAN_ALL, VALUE_WALL, 0, 13 * MS);
    /* A look at it is a point of a period, as in view/confidence.h. */
    assert_float_equal(
        find_row(watch, "wait")->self.squares[SPAN_INTERVAL][VALUE_WALL], 3e12,
        1);
    /* It was over at 14 ms: a part of what was counted is taken back. */
    store_wait(&wait, 12 * MS, 0);
    look_again(watch, 20 * MS);
    expect_times(watch, "wait", SPAN_INTERVAL, VALUE_WALL, -1 * MS, -1 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 12 * MS, 12 * MS);
    expect_state(watch, 0, "-", "");
    /* It waits again at the same place. */
    store_wait(&wait, 20 * MS, SAMPLE_OPEN);
    look_again(watch, 25 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 23 * MS, 23 * MS);
    /* A sample comes before the wait is closed. */
    add_run(1, 2, 24 * MS, 1 * MS, MS);
    look_again(watch, 26 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 24 * MS, 24 * MS);
    expect_state(watch, 0, "running", "");
    store_wait(&wait, 21 * MS, 0);
    look_again(watch, 30 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 21 * MS, 21 * MS);
    assert_int_equal(watch->record_count, 0);
    close_watch(watch);
}

/* One that was over when it was first seen. */
static void
a_wait_may_begin_again(void **state)
{
    struct kept_wait wait;
    struct watch *watch;

    (void)state;
    begin_spool();
    wait = begin_wait(1, 2 * MS, 0);
    store_wait(&wait, 2 * MS, 0);
    watch = open_watch();
    look_again(watch, 5 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 2 * MS, 2 * MS);
    store_wait(&wait, 4 * MS, SAMPLE_OPEN);
    look_again(watch, 7 * MS);
    expect_times(watch, "wait", SPAN_INTERVAL, VALUE_WALL, 3 * MS, 3 * MS);
    close_watch(watch);
}

static void
the_end_of_a_thread_ends_its_wait(void **state)
{
    struct watch *watch;

    (void)state;
    begin_spool();
    begin_wait(1, 2 * MS, 0);
    watch = open_watch();
    look_again(watch, 5 * MS);
    maker_add_end(1, 7 * MS, 0, 0);
    look_again(watch, 20 * MS);
    expect_times(watch, "wait", SPAN_ALL, VALUE_WALL, 5 * MS, 5 * MS);
    expect_state(watch, 0, "ended", "");
    close_watch(watch);
}

static void
store_unseen(uint64_t place, uint64_t cpu)
{
    const uint64_t both[] = {cpu, cpu};

    writer_change(maker_writer, place, offsetof(struct record_sample, wall),
                  both, sizeof both);
}

/* The CPU time of threads without samples grows in place. */
static void
unseen_threads_are_counted(void **state)
{
    const struct record_sample record = {.time = 2 * MS,
                                         .wall = 3 * MS,
                                         .cpu = 3 * MS,
                                         .thread = 2,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING};
    uint64_t unseen;
    struct watch *watch;

    (void)state;
    begin_spool();
    unseen = writer_append(maker_writer, RECORD_SAMPLE, &record, sizeof record,
                           NULL, 0);
    watch = open_watch();
    look_again(watch, 5 * MS);
    expect_times(watch, "[not sampled]", SPAN_ALL, VALUE_CPU, 3 * MS, 3 * MS);
    add_run(2, 1, 6 * MS, 1 * MS, MS);
    look_again(watch, 7 * MS);
    store_unseen(unseen, 10 * MS);
    look_again(watch, 8 * MS);
    expect_times(watch, "[not sampled]", SPAN_INTERVAL, VALUE_CPU, 7 * MS,
                 7 * MS);
    expect_times(watch, "[not sampled]", SPAN_ALL, VALUE_WALL, 10 * MS,
                 10 * MS);
    close_watch(watch);
}

/* Short threads that were seen stand for those that were not. */
static void
unseen_threads_did_what_others_did(void **state)
{
    const struct record_sample record = {.time = 2 * MS,
                                         .wall = 3 * MS,
                                         .cpu = 3 * MS,
                                         .thread = 9,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING};
    uint64_t unseen;
    struct watch *watch;

    (void)state;
    begin_spool();
    maker_add_thread(9, 0, "[short-lived]");
    unseen = writer_append(maker_writer, RECORD_SAMPLE, &record, sizeof record,
                           NULL, 0);
    /* Recorded for nothing, as by a timer that looks at young threads. */
    add_run(1, 2, 3 * MS, MS / 2, 0);
    maker_add_end(1, 4 * MS, MS, THREAD_END_EXACT);
    maker_add_end(2, 4 * MS, 2 * MS, THREAD_END_EXACT);
    watch = open_watch();
    look_again(watch, 5 * MS);
    expect_times(watch, "inner", SPAN_ALL, VALUE_CPU, 6 * MS, 6 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 6 * MS);
    /* The next one is seen elsewhere: both have the same part. */
    maker_add_thread(3, 4713, "later");
    add_run(3, 1, 6 * MS, MS / 2, 0);
    maker_add_end(3, 7 * MS, MS, THREAD_END_EXACT);
    store_unseen(unseen, 8 * MS + 1);
    look_again(watch, 8 * MS);
    expect_times(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 5 * MS / 2,
                 5 * MS / 2);
    expect_times(watch, "main", SPAN_INTERVAL, VALUE_CPU, 7 * MS / 2 + 1,
                 6 * MS + 1);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 12 * MS + 1);
    close_watch(watch);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(waits_go_on_in_place, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(a_wait_may_begin_again, maker_forget,
                                        maker_clean),
        UNIT(the_end_of_a_thread_ends_its_wait),
        UNIT(unseen_threads_did_what_others_did),
        UNIT(unseen_threads_are_counted),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
