/* SPDX-License-Identifier: MIT */
/*
 * labels_test.c -- labels and marks on the report side: what records say of
 * them, sums by a label, filters, and that they come back from pprof files and
 * spools that were made from a profile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/load.h"
#include "view/filter.h"
#include "util/intern.h"
#include "model/label_sets.h"
#include "read/pprof.h"
#include "view/table.h"
#include "write/output_file.h"

#include "profile_maker.h"

static void
add_label(uint32_t id, uint32_t parent, uint32_t key, uint32_t value)
{
    const struct record_label record = {.id = id,
                                        .parent = parent,
                                        .key = key,
                                        .value = value};

    maker_append(RECORD_LABEL, &record, sizeof record, NULL, 0);
}

/* COUNT points of 1 ms of thread 1, running at node 1 with LABEL. */
static void
add_labelled(uint32_t label, uint64_t count, uint64_t time)
{
    const struct record_sample record = {.time = time,
                                         .wall = count * 1000000,
                                         .cpu = count * 1000000,
                                         .count = count,
                                         .thread = 1,
                                         .node = 1,
                                         .label = label,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .trigger = TRIGGER_PERF};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

static void
add_mark(enum mark_kind kind, uint32_t thread, uint32_t label, uint64_t time,
         uint64_t duration, const char *name)
{
    const struct record_mark record = {.time = time,
                                       .duration = duration,
                                       .mark = kind,
                                       .thread = thread,
                                       .label = label,
                                       .text_length =
                                           (uint16_t)(strlen(name) + 1)};
    const struct writer_tail tail = {name, strlen(name) + 1};

    maker_append(RECORD_MARK, &record, sizeof record, &tail, 1);
}

/* request=/cart 5 and 2 (of two sets that are equal), request=/pay and
 * thread=mine 3, nothing 4; three marks. */
static struct profile *
example(void)
{
    static const char *const texts[] = {"request", "/cart", "/pay",
                                        "thread",  "mine",  "user"};
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    maker_name(0x10, "main", NULL);
    maker_add_head();
    for (uint32_t i = 0; i < 6; i++)
        maker_add_text(i + 1, texts[i]);
    maker_add_node(1, 0, 1, 0x10, 0);
    add_label(3, 0, 1, 2);
    add_label(7, 3, 6, 5);
    add_label(9, 0, 6, 5);
    add_label(10, 9, 1, 2);
    add_label(12, 3, 1, 3);
    add_label(13, 12, 4, 5);
    add_labelled(7, 5, 1000000);
    add_labelled(10, 2, 2000000);
    add_labelled(13, 3, 3000000);
    add_labelled(0, 4, 4000000);
    add_mark(MARK_USER, 1, 7, 1500000, 0, "instant");
    add_mark(MARK_SPAN, 2, 0, 2000000, 1500000, "span");
    add_mark(MARK_USER, 0, 0, 5000000, 0, "of the process");
    profile->keeps_events = true;
    return maker_load(profile);
}

/* Check that the table by KEY has a row VALUE with MS, and that its rows add up
 * to the profile. */
static void
expect_row(struct profile *profile, const char *key, const char *value,
           uint64_t ms)
{
    struct table table;
    uint64_t sum = 0, found = 0;

    assert_int_equal(table_build(&table, profile, TABLE_LABEL, key, VALUE_CPU),
                     0);
    for (uint32_t i = 0; i < table.count; i++) {
        sum += table.rows[i].flat[VALUE_CPU];
        if (strcmp(table.rows[i].function, value) == 0)
            found += table.rows[i].flat[VALUE_CPU];
    }
    assert_int_equal(found, ms * 1000000);
    assert_int_equal(sum, profile->totals[VALUE_CPU]);
    table_release(&table);
}

static void
expect_example(struct profile *profile)
{
    maker_expect_sums(profile);
    assert_int_equal(profile->totals[VALUE_CPU], 14000000);
    /* Equal sets are one, in whatever order they were made. */
    assert_int_equal(profile->sample_count, 3);
    expect_row(profile, "request", "/cart", 7);
    expect_row(profile, "request", "/pay", 3);
    expect_row(profile, "request", TABLE_NO_LABEL, 4);
    expect_row(profile, "user", "mine", 7);
    expect_row(profile, "thread", TABLE_NO_LABEL, 14);
    expect_row(profile, "program.thread", "mine", 3);
}

static void
labels_are_summed_up(void **state)
{
    struct profile *profile = example();
    char text[64];

    (void)state;
    expect_example(profile);
    assert_string_equal(label_sets_text(profile, profile->samples[0].labels,
                                        text, sizeof text),
                        "request=/cart, user=mine");
    assert_string_equal(label_sets_text(profile, profile->samples[0].labels,
                                        text, 10),
                        "request=/");
    profile_free(profile);
}

static void
expect_left(const char *key, const char *value, uint64_t ms, size_t marks)
{
    struct filter_options filter = {0};
    struct profile *profile = example();

    filter_add_label(&filter, key, value);
    assert_int_equal(filter_apply(&filter, profile), 0);
    assert_int_equal(profile->totals[VALUE_CPU], ms * 1000000);
    assert_int_equal(profile->timed_mark_count, marks);
    filter_release(&filter);
    profile_free(profile);
}

/* Marks of the process belong to every thread. */
static void
labels_filter_samples_and_marks(void **state)
{
    (void)state;
    expect_left("request", "/cart", 7, 2);
    maker_forget(NULL);
    expect_left("request", "/*", 10, 2);
    maker_forget(NULL);
    expect_left("request", "/none", 0, 1);
    maker_forget(NULL);
    expect_left("none", "/cart", 0, 1);
    maker_forget(NULL);
    expect_left("thread", "worker", 0, 2);
}

static void
time_filters_marks(void **state)
{
    struct filter_options filter = {.has_time = true,
                                    .from = 3000000,
                                    .to = 5000000};
    struct profile *profile = example();

    (void)state;
    assert_int_equal(filter_apply(&filter, profile), 0);
    assert_int_equal(profile->timed_mark_count, 1);
    assert_string_equal(profile->timed_marks[0].name, "span");
    profile_free(profile);
}

/* The first process is still sampled when its file ends, 6 ms after its start.
 */
static void
sessions_are_from_start_to_stop(void **state)
{
    uint64_t sampled = 0;
    struct profile *profile;

    (void)state;
    add_mark(MARK_START, 0, 0, 500000, 0, "options");
    add_mark(MARK_STOP, 0, 0, 1500000, 0, "command");
    add_mark(MARK_START, 0, 0, 4000000, 0, "command");
    add_mark(MARK_USER, 0, 0, 6000000, 0, "last");
    profile = example();
    assert_int_equal(profile_sessions(profile, &sampled), 2);
    assert_int_equal(sampled, 1000000 + 2000000);
    profile_free(profile);
}

static char *
written(int (*write)(FILE *, struct profile *), struct profile *profile,
        size_t *length)
{
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, length);

    assert_non_null(stream);
    assert_int_equal(write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    return bytes;
}

static struct profile *
read_back(const char *bytes, size_t length)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);
    char error[256];

    assert_int_equal(load_memory(profile, bytes, length, "bytes", error,
                                 sizeof error),
                     0);
    return profile;
}

static void
labels_come_back_from_pprof(void **state)
{
    struct profile *profile = example(), *again;
    size_t length;
    char *bytes = written(pprof_write, profile, &length);

    (void)state;
    again = read_back(bytes, length);
    expect_example(again);
    free(bytes);
    profile_free(again);
    profile_free(profile);
}

static void
all_comes_back_from_a_spool(void **state)
{
    struct profile *profile = example(), *again;
    size_t length;
    char *bytes = written(spool_copy_write, profile, &length);

    (void)state;
    again = read_back(bytes, length);
    expect_example(again);
    assert_int_equal(again->problems, 0);
    assert_int_equal(again->timed_mark_count, 3);
    assert_string_equal(again->timed_marks[0].name, "instant");
    assert_int_equal(again->timed_marks[1].duration, 1500000);
    assert_int_equal(again->timed_marks[1].thread, 1);
    assert_int_equal(again->timed_marks[2].thread, PROFILE_NO_THREAD);
    assert_int_equal(again->timed_marks[2].labels, 0);
    assert_string_equal(label_sets_value(again, again->timed_marks[0].labels,
                                         "request"),
                        "/cart");
    free(bytes);
    profile_free(again);
    profile_free(profile);
}

static void
marks_and_labels_are_markers(void **state)
{
    struct profile *profile = example();
    size_t length;
    char *json = written(firefox_write, profile, &length);

    (void)state;
    assert_non_null(strstr(json, "{\"type\":\"Mark\",\"labels\":"
                                 "\"request=/cart, user=mine\"}"));
    assert_non_null(strstr(json, "\"of the process\""));
    assert_non_null(strstr(json, "{\"type\":\"Label\",\"value\":"));
    free(json);
    profile_free(profile);
}

/* Numbers of other programs' files keep their units. */
static void
pprof_numbers_keep_their_units(void **state)
{
    struct profile *profile = example(), *again;
    struct label_pair pair = {profile_string(profile, "bytes"),
                              profile_string(profile, "-512"),
                              profile_string(profile, "kilobytes")};
    size_t length;
    char *bytes;

    (void)state;
    profile->samples[0].labels = label_sets_put(profile, &pair, 1);
    bytes = written(pprof_write, profile, &length);
    again = read_back(bytes, length);
    assert_int_equal(label_sets_get(again, again->samples[0].labels, &pair), 1);
    assert_string_equal(pair.key, "bytes");
    assert_string_equal(pair.value, "-512");
    assert_string_equal(pair.unit, "kilobytes");
    free(bytes);
    profile_free(again);
    profile_free(profile);
}

/* A damaged spool has labels that refer to nothing. */
static void
senseless_labels_and_marks_are_left_out(void **state)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    (void)state;
    maker_add_head();
    maker_add_text(1, "key");
    maker_add_node(1, 0, 1, 0x10, 0);
    add_label(1, 0, 1, 1);
    add_label(1, 0, 1, 1);
    add_label(2, 2, 1, 1);
    add_label(3, 9, 1, 1);
    add_label(4, 0, 7, 1);
    add_label(5, 0, 1, 7);
    add_label(6, 0, 0, 1);
    add_labelled(1, 1, 0);
    add_labelled(4, 1, 0);
    add_mark(MARK_USER, 77, 0, 0, 0, "no such thread");
    add_mark(MARK_USER, 0, 5, 0, 0, "no such label");
    add_mark(99, 0, 0, 0, 0, "no such kind");
    add_mark(MARK_SPAN, 1, 1, UINT64_MAX, 0, "no such time");
    profile = maker_load(profile);
    assert_int_equal(profile->problems, 11);
    assert_int_equal(profile->sample_count, 1);
    assert_int_equal(profile->timed_mark_count, 0);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(labels_are_summed_up),
        UNIT(labels_filter_samples_and_marks),
        UNIT(time_filters_marks),
        UNIT(sessions_are_from_start_to_stop),
        UNIT(labels_come_back_from_pprof),
        UNIT(all_comes_back_from_a_spool),
        UNIT(marks_and_labels_are_markers),
        UNIT(pprof_numbers_keep_their_units),
        UNIT(senseless_labels_and_marks_are_left_out),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
