/* SPDX-License-Identifier: MIT */
/*
 * weigh_epochs_test.c -- CPU time is shared within each epoch of one rate, by
 * what the threads' clocks read when the epochs began.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weigh_maker.h"

#define MS 1000000ull

static void
add_epoch(uint64_t time, uint64_t period)
{
    const struct record_epoch record = {.time = time, .period = period};

    maker_append(RECORD_EPOCH, &record, sizeof record, NULL, 0);
}

static void
add_clock(uint32_t thread, uint64_t cpu)
{
    const struct record_clock record = {.thread = thread, .cpu = cpu};

    maker_append(RECORD_CLOCK, &record, sizeof record, NULL, 0);
}

/* COUNT samples of CPU ns each, from TIME on, old enough not to be short. */
static void
add_samples(uint32_t thread, uint32_t node, uint64_t time, unsigned count,
            uint64_t cpu)
{
    for (unsigned i = 0; i < count; i++)
        maker_add_timed(thread, node, time + i, 1, cpu, 50 * MS);
}

/* Begin a spool: 20 samples of 1 ms at node 1, and then an epoch of 4 ms, at
 * whose begin the clock of thread 1 reads CPU. */
static void
begin_second_epoch(uint64_t cpu)
{
    weigh_begin();
    add_epoch(0, 1 * MS);
    add_samples(1, 1, 1000, 20, MS);
    add_epoch(5000, 4 * MS);
    add_clock(1, cpu);
}

/* The CPU time of THREAD at NODE, over all epochs. */
static uint64_t
cpu_at(const struct profile *profile, uint32_t thread, uint32_t node)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].thread == thread &&
            profile->samples[i].node == node)
            sum += profile->samples[i].values[VALUE_CPU];
    return sum;
}

/* All samples were recorded with the same time. By the whole run each place
 * would have half of it. */
static void
each_epoch_adds_up_to_its_clock(void **state)
{
    struct profile *profile;

    (void)state;
    begin_second_epoch(20 * MS);
    add_samples(1, 2, 6000, 20, MS);
    /* It was on its way when the epoch ended. */
    add_samples(1, 1, 4999, 1, MS);
    maker_add_end(1, 9000, 100 * MS + 1, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(cpu_at(profile, 0, FIRST), 20 * MS);
    assert_int_equal(cpu_at(profile, 0, SECOND), 80 * MS + 1);
    assert_int_equal(profile->epoch_count, 2);
    assert_int_equal(profile->epochs[1].period, 4 * MS);
    profile_free(profile);
}

/* Without a CLOCK, the thread did nothing in the epoch before. */
static void
a_thread_without_a_clock_had_not_run(void **state)
{
    struct profile *profile;

    (void)state;
    begin_second_epoch(20 * MS);
    add_epoch(6000, 2 * MS);
    add_samples(1, 2, 7000, 20, 2 * MS);
    maker_add_end(1, 9000, 60 * MS, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(cpu_at(profile, 0, FIRST), 20 * MS);
    assert_int_equal(cpu_at(profile, 0, SECOND), 40 * MS);
    profile_free(profile);
}

/* Three samples say little of an epoch: they share with the others, by what
 * they were recorded with. */
static void
few_samples_share_with_the_next_epoch(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_epoch(0, 1 * MS);
    add_samples(1, 1, 1000, 3, MS);
    add_epoch(5000, 4 * MS);
    add_clock(1, 9 * MS);
    add_samples(1, 2, 6000, 20, 4 * MS);
    maker_add_end(1, 9000, 166 * MS, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(cpu_at(profile, 0, FIRST), 6 * MS);
    assert_int_equal(cpu_at(profile, 0, SECOND), 160 * MS);
    profile_free(profile);
    /* The other way round: the last ones are few. */
    maker_clean(NULL);
    begin_second_epoch(40 * MS);
    add_samples(1, 2, 6000, 5, 4 * MS);
    maker_add_end(1, 9000, 80 * MS, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(cpu_at(profile, 0, FIRST), 40 * MS);
    assert_int_equal(cpu_at(profile, 0, SECOND), 40 * MS);
    profile_free(profile);
}

/* What a hook measured, and what waits used, is taken off. */
static void
exact_time_is_no_part_of_it(void **state)
{
    struct record_sample fork = {.time = 1500,
                                 .wall = 5 * MS,
                                 .cpu = 5 * MS,
                                 .count = 1,
                                 .thread = 1,
                                 .node = 2,
                                 .system_call = SYSCALL_UNKNOWN,
                                 .trigger = TRIGGER_HOOK};
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_epoch(0, 1 * MS);
    add_samples(1, 1, 1000, 20, MS);
    maker_append(RECORD_SAMPLE, &fork, sizeof fork, NULL, 0);
    fork.state = STATE_WAITING;
    fork.trigger = TRIGGER_ASK;
    fork.cpu = 1 * MS;
    maker_append(RECORD_SAMPLE, &fork, sizeof fork, NULL, 0);
    add_epoch(5000, 4 * MS);
    add_clock(1, 25 * MS);
    add_samples(1, 2, 6000, 20, 4 * MS);
    maker_add_end(1, 9000, 106 * MS, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(cpu_at(profile, 0, FIRST), 20 * MS);
    assert_int_equal(cpu_at(profile, 0, SECOND), 86 * MS);
    assert_int_equal(profile->totals[VALUE_CPU], 106 * MS);
    profile_free(profile);
}

/* A thread of 20 ms is short if a period is 4 ms, and began then. */
static void
threads_are_short_by_the_rate_of_their_time(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_epoch(0, 1 * MS);
    add_epoch(5000, 4 * MS);
    for (uint32_t i = 3; i < 13; i++) {
        const struct record_thread thread = {.id = i, .tid = i, .time = 6000};

        maker_append(RECORD_THREAD, &thread, sizeof thread, NULL, 0);
        /* Some have all samples, and the others none. */
        for (unsigned j = 0; i % 2 && j < 8; j++)
            maker_add_timed(i, 1, 7000, 1, 4 * MS, 10 * MS);
        maker_add_end(i, 9000, 20 * MS, THREAD_END_EXACT);
    }
    profile = weigh_load(NULL);
    assert_int_equal(profile->totals[VALUE_CPU], 200 * MS);
    for (uint32_t i = 0; i < profile->sample_count; i++)
        assert_int_equal(profile->samples[i].node, FIRST);
    profile_free(profile);
}

/* Threads that were never seen stand in the epoch of their record. */
static void
unseen_time_is_shared_in_its_epoch(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_epoch(0, 1 * MS);
    maker_add_timed(1, 1, 1000, 1, MS, MS / 2);
    maker_add_end(1, 4000, 2 * MS, THREAD_END_EXACT);
    weigh_add_unseen(3, 3 * MS, 0);
    profile = weigh_load(NULL);
    assert_int_equal(cpu_at(profile, 0, FIRST), 5 * MS);
    assert_int_equal(profile->totals[VALUE_CPU], 5 * MS);
    profile_free(profile);
    maker_clean(NULL);
    /* No sample is of their epoch: the samples of another one stand for them.
     */
    weigh_begin();
    add_epoch(0, 1 * MS);
    weigh_add_unseen(3, 3 * MS, 0);
    add_epoch(500, 4 * MS);
    for (uint32_t i = 4; i < 6; i++) {
        const struct record_thread thread = {.id = i, .tid = i, .time = 600};

        maker_append(RECORD_THREAD, &thread, sizeof thread, NULL, 0);
    }
    maker_add_timed(4, 1, 1000, 1, MS, MS / 2);
    maker_add_end(4, 4000, 2 * MS, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->totals[VALUE_CPU], 5 * MS);
    assert_int_equal(cpu_at(profile, 3, FIRST), 5 * MS);
    profile_free(profile);
}

static void
damage_is_left_out(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add_clock(1, 7 * MS); /* of no epoch */
    add_epoch(0, 0);
    add_epoch(INT64_MAX + 1ull, 1);
    add_epoch(5000, 1 * MS);
    add_epoch(4000, 1 * MS); /* back in time */
    add_clock(77, 7 * MS);   /* of no thread */
    add_clock(1, UINT64_MAX);
    add_samples(1, 1, 6000, 20, MS);
    maker_add_end(1, 9000, 30 * MS, THREAD_END_EXACT);
    profile = maker_load(NULL);
    assert_int_equal(profile->problems, 6);
    assert_int_equal(profile->epoch_count, 1);
    maker_expect_sums(profile);
    assert_int_equal(cpu_at(profile, 0, FIRST), 30 * MS);
    profile_free(profile);
}

/* Clocks that go back, or beyond the end, lose nothing. */
static void
wild_clocks_add_up(void **state)
{
    static const uint64_t clocks[] = {0, 5 * MS, 30 * MS, 31 * MS, INT64_MAX};
    enum { COUNT = sizeof clocks / sizeof clocks[0] };

    (void)state;
    for (unsigned i = 0; i < COUNT * COUNT; i++) {
        struct profile *profile;

        weigh_begin();
        add_epoch(0, 1 * MS);
        add_samples(1, 1, 100, 20, MS);
        add_epoch(5000, 2 * MS);
        add_clock(1, clocks[i % COUNT]);
        add_samples(1, 2, 5100, 20, MS);
        add_epoch(6000, 3 * MS);
        add_clock(1, clocks[i / COUNT]);
        add_samples(1, 1, 6100, 20, MS);
        maker_add_end(1, 9000, 30 * MS, THREAD_END_EXACT);
        profile = weigh_load(NULL);
        assert_int_equal(profile->totals[VALUE_CPU], 30 * MS);
        profile_free(profile);
        maker_clean(NULL);
    }
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(each_epoch_adds_up_to_its_clock),
        UNIT(a_thread_without_a_clock_had_not_run),
        UNIT(few_samples_share_with_the_next_epoch),
        UNIT(exact_time_is_no_part_of_it),
        UNIT(threads_are_short_by_the_rate_of_their_time),
        UNIT(unseen_time_is_shared_in_its_epoch),
        UNIT(damage_is_left_out),
        UNIT(wild_clocks_add_up),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
