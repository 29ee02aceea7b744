/* SPDX-License-Identifier: MIT */
/*
 * waits_test.c -- what threads wait for, waits that were not over when the
 * spool ended, and the table of what threads did. A period is 1 ms; the waits
 * here begin at 10 ms and were last written at 12 ms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/table.h"

#include "profile_maker.h"

enum { NODE = PROFILE_NOT_SAMPLED + 1 };

#define MS 1000000ull

static void
begin(void)
{
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
}

static void
add_wait(uint32_t thread, uint32_t text, uint32_t flags, enum state state)
{
    const struct record_sample record = {.time = 10 * MS,
                                         .duration = 2 * MS,
                                         .wall = 3 * MS,
                                         .count = 3,
                                         .thread = thread,
                                         .node = 1,
                                         .system_call = 202,
                                         .state = (uint8_t)state,
                                         .trigger = TRIGGER_KEPT,
                                         .waits_on = text,
                                         .flags = flags};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

static void
expect(const struct profile *profile, uint32_t thread, enum state state,
       uint64_t count, uint64_t wall)
{
    const struct profile_sample *sample =
        maker_find(profile, thread, NODE, state);

    assert_int_equal(sample->values[VALUE_SAMPLES], count);
    assert_int_equal(sample->values[VALUE_WALL], wall);
    assert_int_equal(sample->values[VALUE_CPU], 0);
}

static void
open_waits_reach_to_the_last_tick(void **state)
{
    struct profile *profile;

    (void)state;
    begin();
    add_wait(1, 0, SAMPLE_OPEN, STATE_WAITING);
    add_wait(1, 0, SAMPLE_OPEN, STATE_RUNQUEUE);
    add_wait(2, 0, 0, STATE_WAITING);
    maker_add_counts(17 * MS + MS / 2);
    profile = maker_load(NULL);
    expect(profile, 0, STATE_WAITING, 8, 8 * MS + MS / 2);
    expect(profile, 0, STATE_RUNQUEUE, 8, 8 * MS + MS / 2);
    /* One that is over stays as it was written. */
    expect(profile, 1, STATE_WAITING, 3, 3 * MS);
    assert_int_equal(profile->triggers[TRIGGER_KEPT], 16 + 3);
    assert_int_equal(profile->states[STATE_WAITING], 8 + 3);
    assert_int_equal(profile->totals[VALUE_SAMPLES], 8 + 8 + 3);
    assert_int_equal(profile->duration, 17 * MS + MS / 2);
    maker_expect_sums(profile);
    profile_free(profile);
}

/* Wherever the end and the counters stand in the spool. */
static void
the_end_of_a_thread_ends_its_wait(void **state)
{
    struct profile *profile;

    (void)state;
    begin();
    maker_add_counts(20 * MS);
    maker_add_end(1, 14 * MS, 0, 0);
    add_wait(1, 0, SAMPLE_OPEN, STATE_WAITING);
    add_wait(2, 0, SAMPLE_OPEN, STATE_WAITING);
    maker_add_end(2, 30 * MS, 0, THREAD_END_ALIVE);
    profile = maker_load(NULL);
    expect(profile, 0, STATE_WAITING, 5, 5 * MS);
    expect(profile, 1, STATE_WAITING, 11, 11 * MS);
    maker_expect_sums(profile);
    profile_free(profile);
}

/* A live spool may tell a tick from before the wait; a killed one may have no
 * counters; damage may tell any time, or that a running thread waits. */
static void
waits_do_not_shrink(void **state)
{
    static const uint64_t ticks[] = {0, 11 * MS, 12 * MS, UINT64_MAX,
                                     INT64_MAX};
    struct profile *profile;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        begin();
        add_wait(1, 0, SAMPLE_OPEN, STATE_WAITING);
        if (ticks[i] > 0)
            maker_add_counts(ticks[i]);
        profile = maker_load(NULL);
        expect(profile, 0, STATE_WAITING, 3, 3 * MS);
        profile_free(profile);
    }
    begin();
    add_wait(1, 0, SAMPLE_OPEN, STATE_RUNNING);
    maker_add_counts(20 * MS);
    profile = maker_load(NULL);
    expect(profile, 0, STATE_RUNNING, 3, 3 * MS);
    profile_free(profile);
}

/* Two records of one sample, as of a thread that waits, works and waits. */
static void
waits_at_one_place_add_up(void **state)
{
    struct profile *profile;

    (void)state;
    begin();
    add_wait(1, 0, 0, STATE_WAITING);
    add_wait(1, 0, SAMPLE_OPEN, STATE_WAITING);
    maker_add_counts(20 * MS);
    profile = maker_load(NULL);
    expect(profile, 0, STATE_WAITING, 14, 14 * MS);
    profile_free(profile);
}

static void
what_is_waited_for_is_part_of_the_key(void **state)
{
    static const char *const names[] = {"pipe:[17]", "a?b", "", "pipe:[17]"};
    struct profile *profile;

    (void)state;
    begin();
    maker_add_text(1, "pipe:[17]");
    maker_add_text(7, "a\nb");
    maker_add_text(8, "pipe:[17]");
    add_wait(1, 1, 0, STATE_WAITING);
    add_wait(1, 7, 0, STATE_WAITING);
    add_wait(1, 0, 0, STATE_WAITING);
    add_wait(1, 8, 0, STATE_WAITING);
    /* A thread that runs waits for nothing, whatever it waited for before. */
    add_wait(1, 1, 0, STATE_RUNNING);
    profile = maker_load(NULL);
    assert_int_equal(profile->sample_count, 4);
    for (unsigned i = 0; i < 3; i++)
        assert_string_equal(profile->samples[i].waits_on, names[i]);
    assert_int_equal(profile->samples[0].values[VALUE_SAMPLES], 6);
    assert_string_equal(profile->samples[3].waits_on, "");
    assert_int_equal(profile->problems, 0);
    /* Another spool has its own numbers. */
    begin();
    maker_add_text(1, "socket:[4]");
    add_wait(1, 1, 0, STATE_WAITING);
    profile = maker_load(profile);
    assert_string_equal(profile->samples[4].waits_on, "socket:[4]");
    profile_free(profile);
}

static void
texts_that_do_not_exist(void **state)
{
    struct profile *profile;

    (void)state;
    begin();
    maker_add_text(1, "x");
    maker_add_text(1, "again");                /* 1 */
    maker_add_text(0, "no number");            /* 2 */
    add_wait(1, 2, 0, STATE_WAITING);          /* 3 */
    add_wait(1, UINT32_MAX, 0, STATE_WAITING); /* 4 */
    add_wait(1, 1, 0, STATE_WAITING);
    profile = maker_load(NULL);
    assert_int_equal(profile->problems, 4);
    assert_int_equal(profile->sample_count, 1);
    assert_string_equal(profile->samples[0].waits_on, "x");
    profile_free(profile);
}

/* Over two processes, with texts of other numbers. */
static void
activity_is_summed_by_name(void **state)
{
    static const struct {
        const char *state, *waits_on;
        uint64_t wall;
    } rows[] = {{"futex", "lock", 6 * MS},
                {"futex", "", 3 * MS},
                {"runnable", "", 3 * MS},
                {"running", "", 2 * MS}};
    struct profile *profile = NULL;
    struct table table;

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        begin();
        maker_add_text(1 + round, "lock");
        add_wait(1, 1 + round, 0, STATE_WAITING);
        if (round == 0)
            add_wait(2, 0, 0, STATE_WAITING);
        else
            add_wait(2, 0, 0, STATE_RUNQUEUE);
        maker_add_running(2, 1, 1, MS);
        profile = maker_load(profile);
    }
    assert_int_equal(table_build(&table, profile, TABLE_ACTIVITY, NULL,
                                 VALUE_WALL),
                     0);
    assert_int_equal(table.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(table.rows[i].function, rows[i].state);
        assert_string_equal(table.rows[i].module, rows[i].waits_on);
        assert_int_equal(table.rows[i].flat[VALUE_WALL], rows[i].wall);
    }
    table_release(&table);
    profile_free(profile);
}

static void
counters_are_summed_over_processes(void **state)
{
    struct profile *profile;

    (void)state;
    begin();
    maker_add_counts(MS);
    maker_add_counts(MS);
    profile = maker_load(NULL);
    assert_int_equal(profile->cost.peeked, 1204);
    begin();
    maker_add_counts(MS);
    profile = maker_load(profile);
    assert_int_equal(profile->cost.peeked, 2408);
    assert_int_equal(profile->cost.unsure, 6);
    assert_int_equal(profile->cost.skipped, 14);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(open_waits_reach_to_the_last_tick),
        UNIT(the_end_of_a_thread_ends_its_wait),
        UNIT(waits_do_not_shrink),
        UNIT(waits_at_one_place_add_up),
        UNIT(what_is_waited_for_is_part_of_the_key),
        UNIT(texts_that_do_not_exist),
        UNIT(activity_is_summed_by_name),
        UNIT(counters_are_summed_over_processes),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
