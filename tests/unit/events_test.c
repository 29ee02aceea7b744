/* SPDX-License-Identifier: MIT */
/*
 * events_test.c -- when samples were: events add up to the samples they belong
 * to, whatever waits and weighing change, and windows of time cut samples and
 * events alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/events.h"

#include "weigh_maker.h"

#define MS 1000000ull

/* A point at TIME, running for CPU. */
static void
add_point(uint32_t thread, uint32_t node, uint64_t time, uint64_t cpu)
{
    maker_add_timed(thread, node, time, 1, cpu, 100 * MS);
}

static void
add_wait(uint32_t thread, uint64_t time, uint64_t length, uint32_t flags)
{
    const struct record_sample record = {.time = time,
                                         .duration = length,
                                         .wall = length,
                                         .count = length / MS,
                                         .thread = thread,
                                         .node = 1,
                                         .system_call = 202,
                                         .state = STATE_WAITING,
                                         .trigger = TRIGGER_KEPT,
                                         .flags = flags};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
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

/* The values of each sample are those of its events. */
static void
expect_sums(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        uint64_t sums[VALUE_COUNT] = {0};
        for (size_t j = 0; j < profile->event_count; j++) {
            const struct profile_event *event = &profile->events[j];
            if (event->sample != i)
                continue;
            sum_add(&sums[VALUE_SAMPLES], event->count);
            sum_add(&sums[VALUE_CPU], event->cpu);
            sum_add(&sums[VALUE_WALL], event->wall);
        }
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            assert_int_equal(profile->samples[i].values[j], sums[j]);
    }
    maker_expect_sums(profile);
}

static void
expect_event(const struct profile *profile, size_t number, uint64_t time,
             uint64_t duration, uint64_t cpu, uint64_t wall)
{
    const struct profile_event *event = &profile->events[number];

    assert_true(number < profile->event_count);
    assert_int_equal(event->time, time);
    assert_int_equal(event->duration, duration);
    assert_int_equal(event->cpu, cpu);
    assert_int_equal(event->wall, wall);
}

static void
not_kept_unless_asked_for(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_point(1, 1, MS, MS);
    add_wait(1, MS, MS, SAMPLE_OPEN);
    maker_add_counts(9 * MS);
    profile = weigh_load(NULL);
    assert_null(profile->events);
    assert_int_equal(profile->event_count, 0);
    profile_free(profile);
}

static void
one_for_each_record(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_point(1, 1, 1 * MS, MS);
    add_wait(1, 2 * MS, 5 * MS, 0);
    add_point(1, 1, 7 * MS, 2 * MS);
    add_point(2, 2, 3 * MS, MS);
    profile = weigh_load(new_profile());
    assert_int_equal(profile->event_count, 4);
    assert_int_equal(profile->sample_count, 3);
    expect_event(profile, 0, 1 * MS, 0, MS, MS);
    expect_event(profile, 1, 2 * MS, 5 * MS, 0, 5 * MS);
    expect_event(profile, 2, 7 * MS, 0, 2 * MS, 2 * MS);
    assert_int_equal(profile->events[0].sample, profile->events[2].sample);
    expect_sums(profile);
    profile_free(profile);
}

/* A third of the sum does not divide: the shares are whole all the same. */
static void
weighed_as_their_samples(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    for (unsigned i = 0; i < 7; i++)
        add_point(1, 1 + i % 2, (1 + i) * MS, MS);
    maker_add_end(1, 9 * MS, 31 * MS + 1, THREAD_END_EXACT);
    profile = weigh_load(new_profile());
    assert_int_equal(profile->totals[VALUE_CPU], 31 * MS + 1);
    assert_in_range(profile->events[3].cpu, 31 * MS / 7 - 1, 31 * MS / 7 + 1);
    assert_int_equal(profile->events[3].wall, profile->events[3].cpu);
    expect_sums(profile);
    profile_free(profile);
}

/* Samples of some kinds are recorded without CPU time. */
static void
weighed_by_count_where_nothing_was_recorded(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_point(1, 1, 1 * MS, 0);
    add_point(1, 1, 2 * MS, 0);
    maker_add_end(1, 90 * MS, 80 * MS, THREAD_END_EXACT);
    profile = weigh_load(new_profile());
    expect_event(profile, 0, 1 * MS, 0, 40 * MS, 40 * MS);
    expect_event(profile, 1, 2 * MS, 0, 40 * MS, 40 * MS);
    expect_sums(profile);
    profile_free(profile);
}

static void
open_waits_are_extended(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_wait(1, 2 * MS, 3 * MS, 0);
    add_wait(1, 10 * MS, 2 * MS, SAMPLE_OPEN);
    add_wait(2, 10 * MS, 2 * MS, SAMPLE_OPEN);
    maker_add_end(2, 14 * MS, 0, 0);
    maker_add_counts(20 * MS);
    profile = weigh_load(new_profile());
    expect_event(profile, 0, 2 * MS, 3 * MS, 0, 3 * MS);
    expect_event(profile, 1, 10 * MS, 10 * MS, 0, 10 * MS);
    expect_event(profile, 2, 10 * MS, 4 * MS, 0, 4 * MS);
    expect_sums(profile);
    profile_free(profile);
}

/* CPU time that no sample has is somewhere in the life of its thread. */
static void
not_sampled_has_an_event(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_end(2, 50 * MS, 20 * MS, THREAD_END_EXACT);
    profile = weigh_load(new_profile());
    assert_int_equal(profile->event_count, 1);
    expect_event(profile, 0, 0, 50 * MS, 20 * MS, 20 * MS);
    expect_sums(profile);
    profile_free(profile);
}

/* The second spool begins where the first has its events. */
static void
several_spools_have_their_own_events(void **state)
{
    struct profile *profile = new_profile();

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        weigh_begin();
        add_point(1, 1, 1 * MS, 0);
        add_wait(2, 2 * MS, 2 * MS, SAMPLE_OPEN);
        maker_add_counts(8 * MS);
        maker_add_end(1, 90 * MS, 80 * MS, THREAD_END_EXACT);
        profile = weigh_load(profile);
    }
    assert_int_equal(profile->event_count, 4);
    expect_event(profile, 2, 1 * MS, 0, 80 * MS, 80 * MS);
    expect_event(profile, 3, 2 * MS, 6 * MS, 0, 6 * MS);
    assert_int_equal(profile->events[3].sample, 3);
    expect_sums(profile);
    profile_free(profile);
}

/* Points are in or out, waits are cut. */
static void
events_are_clipped_to_the_window(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_point(1, 1, 1 * MS, MS);
    add_point(1, 2, 4 * MS, MS);
    add_wait(1, 5 * MS, 10 * MS, 0);
    add_point(2, 1, 8 * MS, MS);
    profile = weigh_load(new_profile());
    assert_int_equal(events_clip(profile, 4 * MS, 8 * MS), 0);
    assert_int_equal(profile->event_count, 2);
    assert_int_equal(profile->sample_count, 2);
    expect_event(profile, 0, 4 * MS, 0, MS, MS);
    expect_event(profile, 1, 5 * MS, 3 * MS, 0, 3 * MS);
    expect_sums(profile);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 4);
    assert_int_equal(profile->threads[1].values[VALUE_CPU], 0);
    assert_int_equal(profile->states[STATE_WAITING], 3);
    assert_int_equal(profile->states[STATE_RUNNING], 1);
    profile_free(profile);
}

/* Windows side by side, at odd places, lose and invent nothing. */
static void
windows_add_up(void **state)
{
    uint64_t totals[VALUE_COUNT] = {0};

    (void)state;
    for (unsigned i = 0; i < 7; i++) {
        const uint64_t width = 3333333;
        struct profile *profile;
        weigh_begin();
        add_point(1, 1, 1 * MS, MS);
        add_wait(1, 2 * MS, 17 * MS, 0);
        add_wait(2, 0, 19 * MS + 7, 0);
        profile = weigh_load(new_profile());
        assert_int_equal(events_clip(profile, i * width,
                                     i == 6 ? INT64_MAX : (i + 1) * width),
                         0);
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            totals[j] += profile->totals[j];
        expect_sums(profile);
        profile_free(profile);
    }
    assert_int_equal(totals[VALUE_SAMPLES], 1 + 17 + 19);
    assert_int_equal(totals[VALUE_CPU], MS);
    assert_int_equal(totals[VALUE_WALL], 37 * MS + 7);
}

/* 3 ms in line are recorded after a wait of 3 ms, but begin 1 ms before its
 * end: the wait was 1 ms earlier. */
static void
a_thread_is_in_one_place_at_a_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        weigh_begin();
        add_wait(1, 3 * MS, 3 * MS, 0);
        add_wait(2, 0, 10 * MS, 0);
        add_wait(1, 5 * MS, 3 * MS, 0);
        struct profile *profile = weigh_load(new_profile());
        assert_int_equal(events_clip(profile, i * MS, (i + 1) * MS), 0);
        assert_int_equal(profile->totals[VALUE_WALL],
                         i >= 2 && i < 8 ? 2 * MS : MS);
        expect_sums(profile);
        profile_free(profile);
    }
}

/* What has no room after the start of the process is not lost. */
static void
an_event_without_room_is_shorter(void **state)
{
    (void)state;
    weigh_begin();
    add_wait(1, 0, 6 * MS, 0);
    add_wait(1, 5 * MS, 3 * MS, 0);
    struct profile *profile = weigh_load(new_profile());
    assert_int_equal(events_separate(profile), 0);
    expect_event(profile, 0, 0, 5 * MS, 0, 6 * MS);
    expect_event(profile, 1, 5 * MS, 3 * MS, 0, 3 * MS);
    expect_sums(profile);
    profile_free(profile);
}

static void
an_empty_window_leaves_nothing(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_point(1, 1, 1 * MS, MS);
    add_wait(1, 2 * MS, 17 * MS, 0);
    profile = weigh_load(new_profile());
    assert_int_equal(events_clip(profile, 5 * MS, 5 * MS), 0);
    assert_int_equal(profile->event_count, 0);
    assert_int_equal(profile->sample_count, 0);
    assert_int_equal(profile->totals[VALUE_WALL], 0);
    profile_free(profile);
}

/* Times, counts and values at the limits of their numbers. */
static void
damage_is_survived(void **state)
{
    const struct record_sample record = {.time = UINT64_MAX - 5,
                                         .duration = UINT64_MAX,
                                         .wall = UINT64_MAX,
                                         .cpu = UINT64_MAX,
                                         .count = UINT64_MAX,
                                         .thread = 1,
                                         .node = 1,
                                         .system_call = 1,
                                         .state = STATE_WAITING,
                                         .flags = SAMPLE_OPEN};
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
    maker_add_end(1, UINT64_MAX, UINT64_MAX, THREAD_END_EXACT);
    maker_add_counts(UINT64_MAX - 1);
    profile = maker_load(new_profile());
    assert_int_equal(profile->event_count, 2);
    assert_int_equal(profile->events[0].count, UINT32_MAX);
    assert_int_equal(events_clip(profile, 1, UINT64_MAX), 0);
    maker_expect_sums(profile);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(not_kept_unless_asked_for),
        UNIT(one_for_each_record),
        UNIT(weighed_as_their_samples),
        UNIT(weighed_by_count_where_nothing_was_recorded),
        UNIT(open_waits_are_extended),
        UNIT(not_sampled_has_an_event),
        UNIT(several_spools_have_their_own_events),
        UNIT(events_are_clipped_to_the_window),
        UNIT(windows_add_up),
        UNIT(a_thread_is_in_one_place_at_a_time),
        UNIT(an_event_without_room_is_shorter),
        UNIT(an_empty_window_leaves_nothing),
        UNIT(damage_is_survived),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
