/* SPDX-License-Identifier: MIT */
/* watch_maker.c -- see watch_maker.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/reader.h"

#include "watch_maker.h"

static struct reader *reader;
struct filter_options filter;
static uint64_t counts; /* its place */

void
begin_spool(void)
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

struct watch *
open_watch(void)
{
    const struct symbolizer_options options = {.inlines = true};
    char error[512];
    struct watch *watch;

    reader = reader_open(writer_file(maker_writer)->path, error, sizeof error);
    assert_non_null(reader);
    watch = watch_new(reader, &filter, &options);
    assert_non_null(watch);
    return watch;
}

void
set_tick(uint64_t tick)
{
    writer_change(maker_writer, counts, offsetof(struct record_counts, time),
                  &tick, sizeof tick);
}

void
look_again(struct watch *watch, uint64_t tick)
{
    set_tick(tick);
    assert_int_equal(watch_look(watch), 0);
    assert_null(reader_problem(reader));
}

void
close_watch(struct watch *watch)
{
    watch_free(watch);
    reader_end(reader);
    filter_release(&filter);
    maker_finish();
}

void
add_run(uint32_t thread, uint32_t node, uint64_t time, uint64_t age,
        uint64_t cpu)
{
    maker_add_timed(thread, node, time, 1, cpu, age);
}

struct kept_wait
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

void
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

const struct function *
find_row(const struct watch *watch, const char *name)
{
    for (uint32_t i = 0; i < watch->functions.count; i++)
        if (strcmp(watch->functions.rows[i].name, name) == 0)
            return &watch->functions.rows[i];
    fail_msg("no function %s", name);
    return NULL;
}

void
expect_times(const struct watch *watch, const char *name, enum span span,
             enum value value, int64_t self, int64_t total)
{
    const struct function *function = find_row(watch, name);

    assert_int_equal(function->self.values[span][value], self);
    assert_int_equal(function->total.values[span][value], total);
}

void
expect_state(const struct watch *watch, uint32_t thread, const char *state,
             const char *waits_on)
{
    const char *found;

    assert_string_equal(watch_state(watch, thread, &found), state);
    assert_string_equal(found, waits_on);
}
