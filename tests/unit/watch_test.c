/* SPDX-License-Identifier: MIT */
/*
 * watch_test.c -- a spool that is looked at while it is written: intervals,
 * waits that go on in place, CPU time by the threads' clocks, filters. A period
 * is 1 ms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "profile/filter.h"
#include "profile/watch.h"
#include "store/reader.h"

#include "profile_maker.h"

#define MS 1000000

static struct reader *reader;
static struct filter_options filter;
static struct record_counts *counts;

/* What a spool begins with: nodes 1 main, 2 main;work, 3 main;work;work, and 4
 * main;wait; the last is inlined in 2. */
static void
begin(void)
{
    const struct record_counts record = {.time = 1 * MS};

    maker_name(0x10, "main", NULL);
    maker_name(0x20, "work", "inner");
    maker_name(0x30, "wait", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 1, 1, 0x20, 0);
    maker_add_node(3, 2, 1, 0x20, 0);
    maker_add_node(4, 1, 2, 0x30, 0);
    counts = writer_append(maker_writer, RECORD_COUNTS, &record, sizeof record,
                           NULL, 0);
    assert_non_null(counts);
}

static struct watch *
open_watch(void)
{
    const struct symbolizer_options options = {.inlines = true};
    char error[512];
    struct watch *watch;

    reader = reader_open(writer_path(maker_writer), error, sizeof error);
    assert_non_null(reader);
    watch = watch_new(reader, &filter, &options);
    assert_non_null(watch);
    return watch;
}

static void
look(struct watch *watch, uint64_t tick)
{
    writer_store(&counts->time, tick);
    assert_int_equal(watch_look(watch), 0);
    assert_null(reader_problem(reader));
}

static void
close_watch(struct watch *watch)
{
    watch_free(watch);
    reader_end(reader);
    filter_release(&filter);
    maker_finish();
}

/* THREAD ran at TIME, when its clock was at AGE, for CPU as recorded. */
static void
run(uint32_t thread, uint32_t node, uint64_t time, uint64_t age, uint64_t cpu)
{
    const struct record_sample record = {.time = time,
                                         .wall = cpu,
                                         .cpu = cpu,
                                         .count = 1,
                                         .thread = thread,
                                         .node = node,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING,
                                         .trigger = TRIGGER_PERF,
                                         .age = age};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

/* THREAD waits from TIME on. */
static struct record_sample *
begin_wait(uint32_t thread, uint64_t time, uint32_t waits_on)
{
    const struct record_sample record = {.time = time,
                                         .count = 1,
                                         .thread = thread,
                                         .node = 4,
                                         .system_call = 202,
                                         .state = STATE_WAITING,
                                         .trigger = TRIGGER_KEPT,
                                         .waits_on = waits_on,
                                         .flags = SAMPLE_OPEN};
    struct record_sample *place =
        writer_append(maker_writer, RECORD_SAMPLE, &record, sizeof record, NULL,
                      0);

    assert_non_null(place);
    return place;
}

/* Store as the library does, the flags last. */
static void
store_wait(struct record_sample *wait, uint64_t wall, uint32_t flags)
{
    writer_store(&wait->duration, wall);
    writer_store(&wait->count, wall / MS);
    writer_store(&wait->wall, wall);
    writer_store((uint64_t *)(void *)&wait->waits_on,
                 (uint64_t)flags << 32 | wait->waits_on);
}

static const struct function *
find(const struct watch *watch, const char *name)
{
    for (uint32_t i = 0; i < watch->functions.count; i++)
        if (strcmp(watch->functions.rows[i].name, name) == 0)
            return &watch->functions.rows[i];
    fail_msg("no function %s", name);
    return NULL;
}

/* What NAME has of VALUE in the SPAN, by itself and in all. */
static void
expect(const struct watch *watch, const char *name, enum span span,
       enum value value, int64_t self, int64_t total)
{
    const struct function *function = find(watch, name);

    assert_int_equal(function->self.values[span][value], self);
    assert_int_equal(function->total.values[span][value], total);
}

static void
expect_state(const struct watch *watch, uint32_t thread, const char *state,
             const char *waits_on)
{
    const char *found;

    assert_string_equal(watch_state(watch, thread, &found), state);
    assert_string_equal(found, waits_on);
}

static void
an_interval_is_what_is_new(void **state)
{
    struct watch *watch;

    (void)state;
    begin();
    run(1, 2, 2 * MS, 1 * MS, MS);
    run(1, 3, 3 * MS, 2 * MS, MS);
    watch = open_watch();
    look(watch, 5 * MS);
    /* The first interval is all there is. */
    expect(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 2 * MS, 2 * MS);
    expect(watch, "work", SPAN_ALL, VALUE_CPU, 0, 2 * MS);
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 0, 2 * MS);
    assert_int_equal(watch->length[SPAN_ALL], 3 * MS);
    assert_int_equal(watch->length[SPAN_INTERVAL], 3 * MS);
    run(1, 1, 6 * MS, 3 * MS, MS);
    look(watch, 7 * MS);
    expect(watch, "main", SPAN_INTERVAL, VALUE_CPU, 1 * MS, 1 * MS);
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 1 * MS, 3 * MS);
    expect(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 0, 0);
    expect(watch, "inner", SPAN_ALL, VALUE_CPU, 2 * MS, 2 * MS);
    assert_int_equal(watch->length[SPAN_INTERVAL], 2 * MS);
    assert_int_equal(watch->totals.values[SPAN_INTERVAL][VALUE_CPU], 1 * MS);
    assert_int_equal(watch->everything.values[SPAN_ALL][VALUE_SAMPLES], 3);
    expect_state(watch, 0, "running", "");
    expect_state(watch, 1, "-", "");
    /* Nothing new is nothing. */
    look(watch, 8 * MS);
    expect(watch, "main", SPAN_INTERVAL, VALUE_CPU, 0, 0);
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 1 * MS, 3 * MS);
    expect_state(watch, 0, "-", "");
    close_watch(watch);
}

/* Its clock says more than two samples do, and then less. */
static void
samples_share_what_the_clock_says(void **state)
{
    struct watch *watch;

    (void)state;
    begin();
    run(1, 2, 2 * MS, 3 * MS, MS);
    run(1, 1, 3 * MS, 6 * MS, MS);
    watch = open_watch();
    look(watch, 5 * MS);
    expect(watch, "inner", SPAN_ALL, VALUE_CPU, 3 * MS, 3 * MS);
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 3 * MS, 6 * MS);
    expect(watch, "main", SPAN_ALL, VALUE_WALL, 3 * MS, 6 * MS);
    for (unsigned i = 0; i < 4; i++)
        run(1, 2, (6 + i) * MS, 7 * MS, MS);
    look(watch, 10 * MS);
    expect(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 1 * MS, 1 * MS);
    expect(watch, "inner", SPAN_INTERVAL, VALUE_SAMPLES, 4, 4);
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 3 * MS, 7 * MS);
    /* The end tells the rest, which is the last sample's. */
    maker_add_end(1, 11 * MS, 9 * MS, THREAD_END_EXACT);
    /* And this thread had none. */
    maker_add_end(2, 11 * MS, 5 * MS, THREAD_END_EXACT);
    look(watch, 12 * MS);
    expect(watch, "inner", SPAN_INTERVAL, VALUE_CPU, 2 * MS, 2 * MS);
    expect(watch, "[not sampled]", SPAN_ALL, VALUE_CPU, 5 * MS, 5 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 14 * MS);
    expect_state(watch, 0, "ended", "");
    close_watch(watch);
}

/* Without clocks, samples stay as they were recorded. */
static void
samples_without_a_clock_stay(void **state)
{
    struct watch *watch;

    (void)state;
    begin();
    run(1, 2, 2 * MS, 0, MS);
    run(1, 2, 3 * MS, 0, 3 * MS);
    watch = open_watch();
    look(watch, 5 * MS);
    expect(watch, "inner", SPAN_ALL, VALUE_CPU, 4 * MS, 4 * MS);
    close_watch(watch);
}

static void
waits_go_on_in_place(void **state)
{
    struct record_sample *wait;
    struct watch *watch;

    (void)state;
    begin();
    maker_add_text(1, "mutex of worker");
    wait = begin_wait(1, 2 * MS, 1);
    watch = open_watch();
    look(watch, 12 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 10 * MS, 10 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_SAMPLES, 11, 11);
    expect_state(watch, 0, "futex", "mutex of worker");
    look(watch, 15 * MS);
    expect(watch, "wait", SPAN_INTERVAL, VALUE_WALL, 3 * MS, 3 * MS);
    expect(watch, "main", SPAN_ALL, VALUE_WALL, 0, 13 * MS);
    /* It was over at 14 ms: a part of what was counted is taken back. */
    store_wait(wait, 12 * MS, 0);
    look(watch, 20 * MS);
    expect(watch, "wait", SPAN_INTERVAL, VALUE_WALL, -1 * MS, -1 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 12 * MS, 12 * MS);
    expect_state(watch, 0, "-", "");
    /* It waits again at the same place. */
    store_wait(wait, 20 * MS, SAMPLE_OPEN);
    look(watch, 25 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 23 * MS, 23 * MS);
    /* A sample comes before the wait is closed. */
    run(1, 2, 24 * MS, 1 * MS, MS);
    look(watch, 26 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 24 * MS, 24 * MS);
    expect_state(watch, 0, "running", "");
    store_wait(wait, 21 * MS, 0);
    look(watch, 30 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 21 * MS, 21 * MS);
    assert_int_equal(watch->record_count, 0);
    close_watch(watch);
}

/* One that was over when it was first seen. */
static void
a_wait_may_begin_again(void **state)
{
    struct record_sample *wait;
    struct watch *watch;

    (void)state;
    begin();
    wait = begin_wait(1, 2 * MS, 0);
    store_wait(wait, 2 * MS, 0);
    watch = open_watch();
    look(watch, 5 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 2 * MS, 2 * MS);
    store_wait(wait, 4 * MS, SAMPLE_OPEN);
    look(watch, 7 * MS);
    expect(watch, "wait", SPAN_INTERVAL, VALUE_WALL, 3 * MS, 3 * MS);
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
    begin();
    maker_add_node(5, 1, 0, 0x7008, 0);
    run(1, 5, 2 * MS, MS, MS);
    watch = open_watch();
    look(watch, now);
    watch->profile->processes[0].pid = (uint32_t)getpid();
    expect(watch, "?", SPAN_ALL, VALUE_CPU, MS, MS);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("7000 10 compiled\n", file);
    assert_int_equal(fclose(file), 0);
    look(watch, now + MS);
    assert_int_equal(unlink(path), 0);
    expect(watch, "compiled", SPAN_ALL, VALUE_CPU, MS, MS);
    expect(watch, "compiled", SPAN_INTERVAL, VALUE_CPU, 0, 0);
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 0, MS);
    expect(watch, "?", SPAN_ALL, VALUE_CPU, 0, 0);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], MS);
    assert_int_equal(
        watch->threads[0].states[STATE_RUNNING].values[SPAN_ALL][VALUE_CPU],
        MS);
    close_watch(watch);
}

static void
the_end_of_a_thread_ends_its_wait(void **state)
{
    struct watch *watch;

    (void)state;
    begin();
    begin_wait(1, 2 * MS, 0);
    watch = open_watch();
    look(watch, 5 * MS);
    maker_add_end(1, 7 * MS, 0, 0);
    look(watch, 20 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 5 * MS, 5 * MS);
    expect_state(watch, 0, "ended", "");
    close_watch(watch);
}

/* The CPU time of threads that nobody saw grows in place. */
static void
unseen_threads_are_counted(void **state)
{
    const struct record_sample record = {.time = 2 * MS,
                                         .wall = 3 * MS,
                                         .cpu = 3 * MS,
                                         .thread = 2,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING};
    struct record_sample *unseen;
    struct watch *watch;

    (void)state;
    begin();
    unseen = writer_append(maker_writer, RECORD_SAMPLE, &record, sizeof record,
                           NULL, 0);
    watch = open_watch();
    look(watch, 5 * MS);
    expect(watch, "[not sampled]", SPAN_ALL, VALUE_CPU, 3 * MS, 3 * MS);
    run(2, 1, 6 * MS, 1 * MS, MS);
    look(watch, 7 * MS);
    writer_store(&unseen->cpu, 10 * MS);
    writer_store(&unseen->wall, 10 * MS);
    look(watch, 8 * MS);
    expect(watch, "[not sampled]", SPAN_INTERVAL, VALUE_CPU, 7 * MS, 7 * MS);
    expect(watch, "[not sampled]", SPAN_ALL, VALUE_WALL, 10 * MS, 10 * MS);
    close_watch(watch);
}

static void
filters_choose(void **state)
{
    char error[256];
    struct watch *watch;

    (void)state;
    begin();
    run(1, 2, 2 * MS, 1 * MS, MS);
    run(2, 2, 2 * MS, 2 * MS, MS);
    run(2, 1, 8 * MS, 4 * MS, MS);
    begin_wait(2, 4 * MS, 0);
    filter_add_label(&filter, "thread", "work*");
    filter_add_expression(&filter, FILTER_IGNORE, "^inner$", error,
                          sizeof error);
    filter.has_time = true;
    filter.from = 6 * MS;
    filter.to = 100 * MS;
    watch = open_watch();
    look(watch, 10 * MS);
    /* Shared are the clock's 4 ms by two samples, of which one is too early. */
    expect(watch, "main", SPAN_ALL, VALUE_CPU, 2 * MS, 2 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 4 * MS, 4 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 2 * MS);
    assert_int_equal(watch->everything.values[SPAN_ALL][VALUE_CPU], 5 * MS);
    assert_int_equal(
        watch->threads[0].states[STATE_RUNNING].values[SPAN_ALL][VALUE_CPU], 0);
    assert_string_equal(watch->profile->filter,
                        "--thread work* --ignore ^inner$ --time 0.006-0.1");
    run(2, 2, 11 * MS, 5 * MS, MS);
    look(watch, 200 * MS);
    assert_int_equal(watch->totals.values[SPAN_ALL][VALUE_CPU], 2 * MS);
    expect(watch, "wait", SPAN_ALL, VALUE_WALL, 94 * MS, 94 * MS);
    close_watch(watch);
}

/* Memory goes with stacks, not with samples; the shares stay exact. */
static void
many_samples_are_few_stacks(void **state)
{
    enum { COUNT = 200000 };
    struct watch *watch;

    (void)state;
    begin();
    for (uint64_t i = 1; i <= COUNT; i++)
        run(1, 1 + i % 3, i * MS, i * MS + i % 7, MS);
    watch = open_watch();
    look(watch, (COUNT + 1) * (uint64_t)MS);
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
    struct record_control *place;
    struct watch *watch;

    (void)state;
    begin();
    place = writer_append(maker_writer, RECORD_CONTROL, &control,
                          sizeof control, NULL, 0);
    watch = open_watch();
    look(watch, 2 * MS);
    assert_true(watch->has_control && watch->control == CONTROL_WAITING);
    writer_store((uint64_t *)(void *)&place->state, CONTROL_STOPPED);
    maker_add_thread(1, 4711, "renamed");
    maker_add_module(3, "/lib/liby.so");
    maker_add_node(5, 1, 3, 0x30, 0);
    run(1, 5, 3 * MS, MS, MS);
    look(watch, 4 * MS);
    assert_int_equal(watch->control, CONTROL_STOPPED);
    assert_string_equal(watch->profile->threads[0].name, "renamed");
    assert_string_equal(find(watch, "wait")->module, "liby.so");
    assert_false(watch->has_ended);
    maker_append(RECORD_SUMMARY, &summary, sizeof summary, NULL, 0);
    look(watch, 5 * MS);
    assert_true(watch->has_ended && watch->reason == END_EXEC);
    close_watch(watch);
}

/* Numbers that nobody wrote: nothing is read beyond, nothing is added up to
 * undefined behaviour. */
static void
nonsense_does_no_harm(void **state)
{
    struct record_sample record;
    struct watch *watch;

    (void)state;
    begin();
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
        look(watch, i % 3 ? UINT64_MAX : i);
    }
    assert_true(watch->profile->problems > 0);
    close_watch(watch);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_interval_is_what_is_new,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(samples_share_what_the_clock_says,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(samples_without_a_clock_stay,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(waits_go_on_in_place, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(a_wait_may_begin_again, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(generated_code_gets_its_names,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(the_end_of_a_thread_ends_its_wait,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(unseen_threads_are_counted,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(filters_choose, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(many_samples_are_few_stacks,
                                        maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(what_changes_is_seen, maker_forget,
                                        maker_clean),
        cmocka_unit_test_setup_teardown(nonsense_does_no_harm, maker_forget,
                                        maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
