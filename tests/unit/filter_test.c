/* SPDX-License-Identifier: MIT */
/*
 * filter_test.c -- what filters keep of a profile, and that all sums are then
 * those of what is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/events.h"
#include "view/filter.h"

#include "profile_maker.h"

/* Threads main (4711) and worker (4712): main -> parse 3 (main), main -> parse
 * -> token 5 (main), main -> read 4 waiting in futex (worker), 2 waiting in
 * read (worker), main -> spin 7 (worker). */
static struct profile *
example(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    maker_name(0x10, "main", NULL);
    maker_name(0x20, "parse", NULL);
    maker_name(0x30, "next", "token");
    maker_name(0x40, "read", NULL);
    maker_name(0x50, "spin", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x21, NODE_RETURN);
    maker_add_node(3, 2, 1, 0x30, 0);
    maker_add_node(4, 1, 2, 0x40, 0);
    maker_add_node(5, 1, 1, 0x50, 0);
    maker_add_sample(1, 2, 3, 0);
    maker_add_sample(1, 3, 5, 0);
    maker_add_sample(2, 4, 4, 202);
    maker_add_sample(2, 4, 2, 1);
    maker_add_sample(2, 5, 7, 0);
    assert_non_null(profile);
    profile->keeps_events = true;
    return maker_load(profile);
}

/* Whether what is left is consistent, and as much as that. */
static void
expect_left(const struct profile *profile, uint64_t samples, uint64_t cpu)
{
    uint64_t states = 0, events = 0;

    assert_int_equal(profile->totals[VALUE_SAMPLES], samples);
    assert_int_equal(profile->totals[VALUE_CPU], cpu * 1000000);
    maker_expect_sums(profile);
    for (unsigned i = 0; i < STATE_COUNT; i++)
        states += profile->states[i];
    assert_int_equal(states, samples);
    for (size_t i = 0; i < profile->event_count; i++) {
        assert_in_range(profile->events[i].sample, 0,
                        profile->sample_count - 1);
        events += profile->events[i].count;
    }
    assert_int_equal(events, samples);
}

/* The example with one label filter, or two, on it. */
static void
expect_labels(const char *key, const char *value, const char *other_key,
              const char *other, uint64_t samples, uint64_t cpu)
{
    struct filter_options filter = {0};
    struct profile *profile = example();

    assert_int_equal(filter_add_label(&filter, key, value), 0);
    if (other_key != NULL)
        assert_int_equal(filter_add_label(&filter, other_key, other), 0);
    assert_int_equal(filter_apply(&filter, profile), 0);
    expect_left(profile, samples, cpu);
    assert_int_equal(profile->whole[VALUE_SAMPLES], 21);
    filter_release(&filter);
    profile_free(profile);
    maker_forget(NULL);
}

static void
labels_keep_what_they_say(void **state)
{
    (void)state;
    expect_labels("thread", "main", NULL, NULL, 8, 8);
    expect_labels("thread", "4712", NULL, NULL, 13, 7);
    expect_labels("thread", "work*", NULL, NULL, 13, 7);
    expect_labels("tid", "4711", NULL, NULL, 8, 8);
    expect_labels("tid", "471", NULL, NULL, 0, 0);
    expect_labels("process", "app", NULL, NULL, 21, 15);
    expect_labels("process", "app.4711", NULL, NULL, 21, 15);
    expect_labels("process", "4711", NULL, NULL, 21, 15);
    expect_labels("process", "app.4712", NULL, NULL, 0, 0);
    expect_labels("state", "running", NULL, NULL, 15, 15);
    expect_labels("state", "waiting", NULL, NULL, 6, 0);
    expect_labels("request", "7", NULL, NULL, 0, 0);
}

static void
one_key_is_or_several_are_and(void **state)
{
    (void)state;
    expect_labels("thread", "main", "thread", "worker", 21, 15);
    expect_labels("thread", "worker", "state", "running", 7, 7);
    expect_labels("thread", "main", "state", "waiting", 0, 0);
}

/* The example with two expressions (SECOND may be NULL) on it. */
static void
expect_stacks(enum filter_kind kind, const char *first,
              enum filter_kind second_kind, const char *second,
              uint64_t samples, uint64_t cpu)
{
    struct filter_options filter = {0};
    struct profile *profile = example();
    char error[256];

    assert_int_equal(filter_add_expression(&filter, kind, first, error,
                                           sizeof error),
                     0);
    if (second != NULL)
        assert_int_equal(filter_add_expression(&filter, second_kind, second,
                                               error, sizeof error),
                         0);
    assert_int_equal(filter_apply(&filter, profile), 0);
    expect_left(profile, samples, cpu);
    filter_release(&filter);
    profile_free(profile);
    maker_forget(NULL);
}

static void
stacks_keep_what_they_say(void **state)
{
    (void)state;
    expect_stacks(FILTER_FOCUS, "parse", 0, NULL, 8, 8);
    expect_stacks(FILTER_FOCUS, "^token$", 0, NULL, 5, 5);
    expect_stacks(FILTER_FOCUS, "next|spin", 0, NULL, 12, 12);
    expect_stacks(FILTER_IGNORE, "parse", 0, NULL, 13, 7);
    expect_stacks(FILTER_IGNORE, "main", 0, NULL, 0, 0);
    expect_stacks(FILTER_FOCUS, "parse", FILTER_FOCUS, "token", 5, 5);
    expect_stacks(FILTER_FOCUS, "parse", FILTER_FOCUS, "spin", 0, 0);
    expect_stacks(FILTER_FOCUS, "parse", FILTER_IGNORE, "token", 3, 3);
    expect_stacks(FILTER_IGNORE, "token", FILTER_IGNORE, "read", 10, 10);
}

static void
a_wrong_expression_is_told(void **state)
{
    struct filter_options filter = {0};
    char error[256] = "";

    (void)state;
    assert_int_equal(filter_add_expression(&filter, FILTER_FOCUS, "(", error,
                                           sizeof error),
                     -1);
    assert_true(error[0] != '\0');
    assert_false(filter_is_set(&filter));
    filter_release(&filter);
}

/* Each record is from 1 ms to 5 ms. */
static void
times_keep_what_they_say(void **state)
{
    struct filter_options filter = {.has_time = true,
                                    .from = 3000000,
                                    .to = UINT64_MAX};
    struct profile *profile = example();

    (void)state;
    assert_int_equal(filter_add_label(&filter, "thread", "4711"), 0);
    assert_int_equal(filter_apply(&filter, profile), 0);
    assert_int_equal(profile->totals[VALUE_CPU], 4000000);
    assert_int_equal(profile->whole[VALUE_CPU], 15000000);
    assert_string_equal(profile->filter, "--thread 4711 --time 0.003-");
    maker_expect_sums(profile);
    filter_release(&filter);
    profile_free(profile);
}

static void
filters_add_up(void **state)
{
    struct filter_options filter = {0};
    struct profile *profile = example();

    (void)state;
    assert_int_equal(filter_apply(&filter, profile), 0);
    assert_null(profile->filter);
    assert_int_equal(filter_add_label(&filter, "state", "running"), 0);
    assert_int_equal(filter_apply(&filter, profile), 0);
    filter_release(&filter);
    assert_int_equal(filter_add_label(&filter, "tid", "4712"), 0);
    assert_int_equal(filter_apply(&filter, profile), 0);
    expect_left(profile, 7, 7);
    assert_int_equal(profile->whole[VALUE_SAMPLES], 21);
    assert_string_equal(profile->filter, "--state running --label tid=4712");
    filter_release(&filter);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(labels_keep_what_they_say), UNIT(one_key_is_or_several_are_and),
        UNIT(stacks_keep_what_they_say), UNIT(a_wrong_expression_is_told),
        UNIT(times_keep_what_they_say),  UNIT(filters_add_up),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
