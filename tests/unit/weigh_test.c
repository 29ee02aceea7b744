/* SPDX-License-Identifier: MIT */
/*
 * weigh_test.c -- the CPU time of samples against the clocks of their threads:
 * exact to the nanosecond, whatever was sampled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/table.h"

#include "weigh_maker.h"

/* A sample of any kind. */
static void
add(uint64_t wall, uint64_t cpu, uint64_t count, enum state state,
    enum trigger trigger)
{
    const struct record_sample record = {.wall = wall,
                                         .cpu = cpu,
                                         .count = count,
                                         .thread = 1,
                                         .node = count > 0,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = (uint8_t)state,
                                         .trigger = (uint8_t)trigger};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

static void
a_thread_adds_up_to_its_clock(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 3, 3000000);
    maker_add_running(1, 2, 2, 2000000);
    maker_add_sample(1, 1, 4, 202);
    maker_add_running(2, 1, 7, 7000000);
    maker_add_end(1, 9, 10000001, THREAD_END_EXACT | THREAD_END_ALIVE);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 3, 6000000, 6000000);
    weigh_expect(profile, 0, SECOND, 2, 4000001, 4000001);
    assert_int_equal(profile->threads[0].cpu, 10000001);
    assert_int_equal(profile->threads[0].values[VALUE_CPU], 10000001);
    assert_int_equal(profile->threads[0].values[VALUE_WALL], 14000001);
    /* The clock of the other one was not read: its process was killed. */
    weigh_expect(profile, 1, FIRST, 7, 7000000, 7000000);
    assert_int_equal(profile->threads[1].cpu, 0);
    assert_int_equal(profile->totals[VALUE_CPU], 17000001);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 16);
    profile_free(profile);
}

/* A process that was killed has the clock of the sampler's last look, unless
 * the end was seen. */
static void
an_unseen_end_has_the_last_clock(void **state)
{
    struct record_live live = {.thread = 2, .cpu = 9000000};

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 5, 5000000);
    maker_add_running(2, 1, 7, 7000000);
    maker_append(RECORD_LIVE, &live, sizeof live, NULL, 0);
    live = (struct record_live){.thread = 1, .cpu = 4000000};
    maker_append(RECORD_LIVE, &live, sizeof live, NULL, 0);
    maker_add_end(1, 9, 6000000, THREAD_END_EXACT);
    struct profile *profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 5, 6000000, 6000000);
    weigh_expect(profile, 1, FIRST, 7, 9000000, 9000000);
    profile_free(profile);
}

/* Samples were due in 40 ms (maker_add_rate). */
static void
sums_that_differ_are_marked(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        weigh_begin();
        maker_add_running(1, 1, 40, 40000000);
        maker_add_end(1, 9, i == 0 ? 40000000 : 60000000, THREAD_END_EXACT);
        maker_add_rate();
        struct profile *profile = weigh_load(NULL);
        assert_int_equal(profile->cost.wrong, i);
        assert_int_equal(profile->cost.wrong_samples, i * 60000000);
        assert_int_equal(profile->cost.wrong_due, i * 40000000);
        profile_free(profile);
    }
}

/* 1000 samples that weigh the same cannot all be rounded down. */
static void
nothing_is_lost_by_rounding(void **state)
{
    struct profile *profile;
    uint32_t i;

    (void)state;
    weigh_begin();
    for (i = 3; i <= 1002; i++) {
        maker_add_node(i, 0, 1, i, 0);
        maker_add_running(1, i, 1, 1000000);
    }
    maker_add_end(1, 9, 1234567891, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->totals[VALUE_CPU], 1234567891);
    assert_int_equal(profile->totals[VALUE_WALL], 1234567891);
    for (i = 0; i < 1000; i++)
        assert_in_range(profile->samples[i].values[VALUE_CPU], 1234567,
                        1234568);
    profile_free(profile);
}

static void
wall_time_changes_with_it(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add(15000000, 14000000, 4, STATE_RUNNING, TRIGGER_TIMER);
    maker_add_end(1, 9, 13000000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 4, 13000000, 14000000);
    profile_free(profile);
    /* More was recorded than there was wall time: there is none left. */
    weigh_begin();
    add(1000000, 26000000, 4, STATE_RUNNING, TRIGGER_TIMER);
    maker_add_end(1, 9, 12000000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 4, 12000000, 0);
    profile_free(profile);
}

/* A fork of 4 ms is no more and no less, however the others are scaled; nor is
 * it one of the points at the same place. */
static void
what_a_hook_measured_stays(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    add(4000000, 4000000, 1, STATE_RUNNING, TRIGGER_HOOK);
    maker_add_running(1, 2, 2, 2000000);
    maker_add_end(1, 9, 10000001, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 1, 4000000, 4000000);
    weigh_expect(profile, 0, SECOND, 2, 6000001, 6000001);
    assert_int_equal(profile->triggers[TRIGGER_HOOK], 1);
    profile_free(profile);
    weigh_begin();
    add(4000000, 4000000, 1, STATE_RUNNING, TRIGGER_HOOK);
    add(1000000, 1000000, 1, STATE_RUNNING, TRIGGER_PERF);
    maker_add_end(1, 9, 10000001, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 2);
    assert_int_equal(profile->samples[0].values[VALUE_CPU], 4000000);
    assert_int_equal(profile->samples[1].values[VALUE_CPU], 6000001);
    profile_free(profile);
}

/* What a thread used on its way into a wait belongs to the wait. */
static void
waits_keep_their_cpu_time(void **state)
{
    const struct profile_sample *wait;
    struct profile *profile;

    (void)state;
    weigh_begin();
    add(4000000, 3000, 4, STATE_WAITING, TRIGGER_ASK);
    add(2000000, 2000000, 2, STATE_RUNNING, TRIGGER_TIMER);
    maker_add_end(1, 9, 12500000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    wait = maker_find(profile, 0, FIRST, STATE_WAITING);
    assert_int_equal(wait->values[VALUE_CPU], 3000);
    assert_int_equal(wait->values[VALUE_WALL], 4000000);
    weigh_expect(profile, 0, FIRST, 2, 12497000, 12497000);
    assert_int_equal(profile->threads[0].values[VALUE_CPU], 12500000);
    profile_free(profile);
}

static void
a_thread_without_samples_has_one_for_its_clock(void **state)
{
    struct profile *profile;
    struct table table;

    (void)state;
    weigh_begin();
    maker_add_sample(1, 1, 4, 202);
    maker_add_end(1, 9, 15000000, THREAD_END_EXACT);
    maker_add_end(2, 9, 0, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 2);
    weigh_expect(profile, 0, PROFILE_NOT_SAMPLED, 0, 15000000, 15000000);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 4);
    assert_int_equal(profile->triggers[TRIGGER_NONE], 0);
    assert_true(profile_is_marker(profile, PROFILE_NOT_SAMPLED));
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    assert_string_equal(table.rows[0].function, "[not sampled]");
    assert_int_equal(table.rows[0].flat[VALUE_CPU], 15000000);
    table_release(&table);
    profile_free(profile);
}

/* A clock that was last read some time before the end is good enough; one that
 * was never read says nothing, and one of little time makes no group. */
static void
inexact_clocks_count_if_they_were_read(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 1, 1000000);
    maker_add_running(2, 1, 3, 3000000);
    maker_add_running(2, 2, 1, 3000000);
    maker_add_end(1, 9, 0, 0);
    maker_add_end(2, 9, 1800000, 0);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 1, 1000000, 1000000);
    weigh_expect(profile, 1, FIRST, 3, 900000, 900000);
    weigh_expect(profile, 1, SECOND, 1, 900000, 900000);
    profile_free(profile);
}

/* The timer that looks at young threads brings samples besides those that the
 * CPU time is counted by. They get nothing, unless there are no others. */
static void
samples_without_cpu_time(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 1, 3000000);
    maker_add_running(1, 2, 1, 0);
    maker_add_running(2, 1, 1, 0);
    maker_add_running(2, 2, 2, 0);
    maker_add_running(2, 2, 1, 0);
    maker_add_end(1, 9, 9000001, THREAD_END_EXACT);
    maker_add_end(2, 9, 8000001, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 4);
    weigh_expect(profile, 0, FIRST, 1, 9000001, 9000001);
    weigh_expect(profile, 0, SECOND, 1, 0, 0);
    weigh_expect(profile, 1, FIRST, 1, 2000000, 2000000);
    weigh_expect(profile, 1, SECOND, 3, 6000001, 6000001);
    profile_free(profile);
}

/* A sampled thread may have time without a sample, too: its clock has it all,
 * and where there is no clock it is shown as it is. */
static void
unsampled_time_of_a_sampled_thread(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 4, 4000000);
    add(0, 1000000, 0, STATE_RUNNING, TRIGGER_NONE);
    maker_add_end(1, 9, 9000000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    assert_int_equal(profile->sample_count, 1);
    weigh_expect(profile, 0, FIRST, 4, 9000000, 9000000);
    profile_free(profile);
    weigh_begin();
    maker_add_running(1, 1, 4, 4000000);
    add(0, 1000000, 0, STATE_RUNNING, TRIGGER_NONE);
    profile = weigh_load(NULL);
    weigh_expect(profile, 0, FIRST, 4, 4000000, 4000000);
    weigh_expect(profile, 0, PROFILE_NOT_SAMPLED, 0, 1000000, 1000000);
    profile_free(profile);
}

static void
processes_are_weighed_alone(void **state)
{
    struct profile *profile;

    (void)state;
    weigh_begin();
    maker_add_running(1, 1, 1, 1000000);
    maker_add_end(1, 9, 100000, THREAD_END_EXACT);
    maker_add_end(2, 9, 100000, THREAD_END_EXACT);
    profile = weigh_load(NULL);
    weigh_begin();
    maker_add_running(2, 1, 1, 1000000);
    maker_add_end(1, 9, 300000, THREAD_END_EXACT);
    maker_add_end(2, 9, 300000, THREAD_END_EXACT);
    profile = weigh_load(profile);
    weigh_expect(profile, 0, FIRST, 1, 200000, 200000);
    weigh_expect(profile, 3, SECOND + 1, 1, 600000, 600000);
    assert_int_equal(profile->sample_count, 2);
    profile_free(profile);
}

/* Whatever a damaged spool says, sums stop at their limit. */
static void
hostile_numbers_are_harmless(void **state)
{
    static const uint64_t numbers[] = {0,         1,          UINT64_MAX,
                                       INT64_MAX, 1ull << 63, UINT64_MAX / 3,
                                       7999999};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };

    (void)state;
    for (unsigned i = 0; i < COUNT * COUNT * COUNT; i++) {
        uint64_t one = numbers[i % COUNT], other = numbers[i / COUNT % COUNT];
        uint64_t clock = numbers[i / COUNT / COUNT];
        weigh_begin();
        maker_add_running(1, 1, one, other);
        maker_add_running(1, 2, other, one);
        maker_add_aged(2, 1, other, one, other);
        maker_add_aged(2, 1, one, one, clock);
        add(one, other, other, STATE_WAITING, TRIGGER_KEPT);
        add(other, one, one, STATE_RUNNING, TRIGGER_HOOK);
        weigh_add_unseen(3, one, other);
        maker_add_end(1, 9, clock, THREAD_END_EXACT);
        maker_add_end(2, 9, other, THREAD_END_EXACT);
        profile_free(weigh_load(NULL));
        maker_clean(NULL);
    }
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(a_thread_adds_up_to_its_clock),
        UNIT(an_unseen_end_has_the_last_clock),
        UNIT(sums_that_differ_are_marked),
        UNIT(nothing_is_lost_by_rounding),
        UNIT(wall_time_changes_with_it),
        UNIT(what_a_hook_measured_stays),
        UNIT(waits_keep_their_cpu_time),
        UNIT(a_thread_without_samples_has_one_for_its_clock),
        UNIT(inexact_clocks_count_if_they_were_read),
        UNIT(samples_without_cpu_time),
        UNIT(unsampled_time_of_a_sampled_thread),
        UNIT(processes_are_weighed_alone),
        UNIT(hostile_numbers_are_harmless),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
