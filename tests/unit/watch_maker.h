/* SPDX-License-Identifier: MIT */
/*
 * watch_maker.h -- a spool that is written while profile/watch.h looks at it:
 * records as the library appends them and changes them in place, and what a
 * look is to find. Include it after cmocka.
 */
#ifndef TESTS_UNIT_WATCH_MAKER_H
#define TESTS_UNIT_WATCH_MAKER_H

#include "profile/filter.h"
#include "profile/watch.h"
#include "store/reader.h"

#include "profile_maker.h"

#define MS 1000000

static struct reader *reader;
static struct filter_options filter;
static uint64_t counts; /* its place */

/* What a spool begins with: nodes 1 main, 2 main;work, 3 main;work;work, and 4
 * main;wait; the last is inlined in 2. */
static inline void
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
    assert_true(counts != 0);
}

static inline struct watch *
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

static inline void
look(struct watch *watch, uint64_t tick)
{
    writer_change(maker_writer, counts, offsetof(struct record_counts, time),
                  &tick, sizeof tick);
    assert_int_equal(watch_look(watch), 0);
    assert_null(reader_problem(reader));
}

static inline void
close_watch(struct watch *watch)
{
    watch_free(watch);
    reader_end(reader);
    filter_release(&filter);
    maker_finish();
}

/* THREAD ran at TIME, when its clock was at AGE, for CPU as recorded. */
static inline void
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

/* A wait as it is in the file, and where. */
struct kept_wait {
    uint64_t place;
    struct record_sample record;
};

/* THREAD waits from TIME on. */
static inline struct kept_wait
begin_wait(uint32_t thread, uint64_t time, uint32_t waits_on)
{
    struct kept_wait wait = {.record = {.time = time,
                                        .count = 1,
                                        .thread = thread,
                                        .node = 4,
                                        .system_call = 202,
                                        .state = STATE_WAITING,
                                        .trigger = TRIGGER_KEPT,
                                        .waits_on = waits_on,
                                        .flags = SAMPLE_OPEN}};

    wait.place = writer_append(maker_writer, RECORD_SAMPLE, &wait.record,
                               sizeof wait.record, NULL, 0);
    assert_true(wait.place != 0);
    return wait;
}

/* Store as the library does. */
static inline void
store_wait(struct kept_wait *wait, uint64_t wall, uint32_t flags)
{
    const size_t from = offsetof(struct record_sample, duration);

    wait->record.duration = wait->record.wall = wall;
    wait->record.count = wall / MS;
    wait->record.flags = flags;
    writer_change(maker_writer, wait->place, from,
                  (const char *)&wait->record + from,
                  sizeof wait->record - from);
}

static inline const struct function *
find(const struct watch *watch, const char *name)
{
    for (uint32_t i = 0; i < watch->functions.count; i++)
        if (strcmp(watch->functions.rows[i].name, name) == 0)
            return &watch->functions.rows[i];
    fail_msg("no function %s", name);
    return NULL;
}

/* What NAME has of VALUE in the SPAN, by itself and in all. */
static inline void
expect(const struct watch *watch, const char *name, enum span span,
       enum value value, int64_t self, int64_t total)
{
    const struct function *function = find(watch, name);

    assert_int_equal(function->self.values[span][value], self);
    assert_int_equal(function->total.values[span][value], total);
}

static inline void
expect_state(const struct watch *watch, uint32_t thread, const char *state,
             const char *waits_on)
{
    const char *found;

    assert_string_equal(watch_state(watch, thread, &found), state);
    assert_string_equal(found, waits_on);
}

#endif
