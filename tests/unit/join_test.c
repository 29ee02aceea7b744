/* SPDX-License-Identifier: MIT */
/*
 * join_test.c -- the two spools of a flight recorder are one process. Here
 * the past begins at 100 ms and the present at 110 ms, the last tick is at 115
 * ms, and 8 ms are to be kept. Thread 1 ends in the past, and its id is another
 * thread's in the present, as it never is; thread 2 waits all the time, and was
 * seen without a stack in both; thread 3 runs in the present.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/events.h"
#include "read/load.h"
#include "read/join.h"

#include "profile_maker.h"

enum { NODE = PROFILE_NOT_SAMPLED + 1 };

#define MS 1000000ull

static char past[PATH_MAX], present[PATH_MAX];

static void
begin_spool(char *path, const char *name, uint64_t start, uint64_t begin)
{
    const struct spool_header header = {.start_monotonic = start,
                                        .start_realtime = 2000,
                                        .pid = 4711,
                                        .keep = 8 * MS,
                                        .begin = begin * MS};

    strcpy(path, maker_path(name));
    unlink(path);
    maker_writer = writer_create(path, &header, MAKER_CAP, false);
    assert_non_null(maker_writer);
    maker_add_process(4711, "/bin/app");
    maker_add_module(1, "/bin/app");
    maker_add_node(1, 0, 1, 0x10, 0);
}

/* THREAD waits from FROM to TO ms, in a stack if NODE is 1. */
static void
add_wait(uint32_t thread, uint32_t node, uint64_t from, uint64_t to,
         uint32_t flags)
{
    const struct record_sample record = {.time = from * MS,
                                         .duration = (to - from) * MS,
                                         .wall = (to - from) * MS,
                                         .count = to - from,
                                         .thread = thread,
                                         .node = node,
                                         .system_call = 202,
                                         .state = STATE_WAITING,
                                         .trigger = TRIGGER_KEPT,
                                         .flags = flags};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

/* THREAD ran at TIME, for 2 ms. */
static void
add_run(uint32_t thread, uint64_t time)
{
    const struct record_sample record = {.time = time * MS,
                                         .wall = 2 * MS,
                                         .cpu = 2 * MS,
                                         .count = 1,
                                         .thread = thread,
                                         .node = 1,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING,
                                         .trigger = TRIGGER_PERF,
                                         .age = 900 * MS};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

static void
make_past(uint64_t start)
{
    begin_spool(past, "a.past.sprof", start, 100);
    maker_add_counts(109 * MS);
    maker_add_thread(1, 4711, "main");
    maker_add_thread(2, 4712, "early");
    add_run(1, 101);
    add_run(1, 108);
    add_wait(2, 1, 100, 108, 0);
    add_wait(2, 0, 108, 110, 0);
    /* Twice what its samples say. */
    maker_add_end(1, 110 * MS, 8 * MS, THREAD_END_EXACT | THREAD_END_ALIVE);
    maker_add_end(2, 110 * MS, 0, THREAD_END_EXACT | THREAD_END_ALIVE);
    maker_finish();
}

static void
make_present(uint64_t start)
{
    begin_spool(present, "a.sprof", start, 110);
    maker_add_counts(115 * MS);
    maker_add_thread(1, 5000, "another");
    maker_add_thread(2, 4712, "late");
    maker_add_thread(3, 4713, "new");
    add_run(1, 111);
    add_run(3, 112);
    add_wait(2, 0, 110, 111, 0);
    add_wait(2, 1, 111, 112, SAMPLE_OPEN);
    maker_add_end(3, 114 * MS, MS, THREAD_END_EXACT);
    maker_finish();
}

static struct profile *
new_profile(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    assert_non_null(profile);
    profile->keeps_events = true;
    return profile;
}

static void
load(struct profile *profile, const char *path)
{
    char error[1024];

    assert_int_equal(load_file(profile, path, error, sizeof error), 0);
    assert_string_equal(error, "");
}

static const struct profile_thread *
find_thread(const struct profile *profile, uint32_t tid)
{
    const struct profile_thread *found = NULL;

    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].tid == tid) {
            assert_null(found);
            found = &profile->threads[i];
        }
    assert_non_null(found);
    return found;
}

/* TID has so much CPU and wall time, in us. */
static void
expect(const struct profile *profile, uint32_t tid, uint64_t cpu, uint64_t wall)
{
    const struct profile_thread *thread = find_thread(profile, tid);

    assert_int_equal(thread->process, 0);
    assert_int_equal(thread->values[VALUE_CPU], cpu * 1000);
    assert_int_equal(thread->values[VALUE_WALL], wall * 1000);
}

static void
expect_both(const struct profile *profile)
{
    maker_expect_sums(profile);
    assert_int_equal(profile->problems, 0);
    assert_int_equal(profile->process_count, 1);
    assert_int_equal(profile->thread_count, 4);
    expect(profile, 4711, 8000, 8000);
    expect(profile, 4712, 0, 15000);
    expect(profile, 5000, 2000, 2000);
    expect(profile, 4713, 1000, 1000);
    assert_string_equal(find_thread(profile, 4712)->name, "late");
    assert_int_equal(find_thread(profile, 4712)->end, UINT64_MAX);
    assert_int_equal(find_thread(profile, 4713)->end, 14 * MS);
    assert_int_equal(profile->start, 2000 + 100 * MS);
    assert_int_equal(profile->duration, 15 * MS);
    assert_int_equal(profile->processes[0].duration, 15 * MS);
    assert_int_equal(profile->cost.taken, 40);
    for (size_t i = 0; i < profile->event_count; i++)
        assert_true(profile->events[i].time <= 12 * MS);
    for (uint32_t i = 0; i < profile->module_count; i++)
        assert_int_equal(profile->modules[i].process, 0);
}

static void
both_spools_are_one_process(void **state)
{
    struct profile *profile = new_profile();

    (void)state;
    make_past(1000);
    make_present(1000);
    load(profile, present);
    expect_both(profile);
    /* Nothing counts twice, whatever else is named. */
    load(profile, past);
    load(profile, present);
    expect_both(profile);
    profile_free(profile);
    profile = new_profile();
    load(profile, past);
    assert_int_equal(profile->duration, 10 * MS);
    load(profile, present);
    expect_both(profile);
    profile_free(profile);
}

/* One before and one after it are not mixed up with it. */
static void
other_processes_stay_apart(void **state)
{
    struct profile *profile;

    (void)state;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    add_wait(2, 0, 1, 3, 0);
    profile = maker_load(NULL);
    make_past(1000);
    make_present(1000);
    load(profile, present);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    add_wait(1, 0, 1, 4, 0);
    add_wait(2, 0, 1, 5, 0);
    profile = maker_load(profile);
    maker_expect_sums(profile);
    assert_int_equal(profile->process_count, 3);
    assert_int_equal(profile->thread_count, 2 + 4 + 2);
    assert_int_equal(profile->threads[1].values[VALUE_WALL], 2 * MS);
    assert_int_equal(profile->threads[6].values[VALUE_WALL], 3 * MS);
    assert_int_equal(profile->threads[7].values[VALUE_WALL], 4 * MS);
    assert_int_equal(profile->threads[7].process, 2);
    profile_free(profile);
}

static void
a_past_of_another_process_is_not_used(void **state)
{
    struct profile *profile = new_profile();

    (void)state;
    make_past(1001);
    make_present(1000);
    load(profile, present);
    assert_int_equal(profile->thread_count, 3);
    assert_int_equal(profile->duration, 5 * MS);
    assert_int_equal(profile->start, 2000 + 110 * MS);
    /* Unless the caller wants both. */
    load(profile, past);
    assert_int_equal(profile->process_count, 2);
    assert_int_equal(profile->thread_count, 5);
    maker_expect_sums(profile);
    profile_free(profile);
}

static void
no_more_is_kept_than_is_wanted(void **state)
{
    struct profile *profile = new_profile();

    (void)state;
    make_past(1000);
    make_present(1000);
    assert_true(load_is_recorder(present));
    load(profile, present);
    assert_int_equal(join_shorten(profile), 0);
    maker_expect_sums(profile);
    assert_int_equal(profile->duration, 8 * MS);
    assert_int_equal(profile->start, 2000 + 107 * MS);
    assert_int_equal(profile->processes[0].begin, 107 * MS);
    /* Of two samples, the first was before that. */
    expect(profile, 4711, 4000, 4000);
    expect(profile, 4712, 0, 8000);
    expect(profile, 4713, 1000, 1000);
    assert_int_equal(find_thread(profile, 4713)->end, 7 * MS);
    for (size_t i = 0; i < profile->event_count; i++)
        assert_true(profile->events[i].time + profile->events[i].duration <=
                    8 * MS);
    profile_free(profile);
}

static void
what_is_no_recorder_is_as_ever(void **state)
{
    const char *path;
    struct profile *profile = new_profile();

    (void)state;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    path = maker_finish();
    assert_false(load_is_recorder(path));
    load(profile, path);
    load(profile, path);
    assert_int_equal(profile->process_count, 2);
    assert_int_equal(profile->thread_count, 4);
    assert_int_equal(join_shorten(profile), 0);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(both_spools_are_one_process, maker_clean),
        cmocka_unit_test_teardown(other_processes_stay_apart, maker_clean),
        cmocka_unit_test_teardown(a_past_of_another_process_is_not_used,
                                  maker_clean),
        cmocka_unit_test_teardown(no_more_is_kept_than_is_wanted, maker_clean),
        cmocka_unit_test_teardown(what_is_no_recorder_is_as_ever, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
