/* SPDX-License-Identifier: MIT */
/* roster_test.c -- which threads are on the roster, and what their end records
 * say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "process/threads.h"
#include "sampling/thread_time.h"
#include "sampling_maker.h"

static int
begin(void **state)
{
    (void)state;
    made_begin();
    return 0;
}

/* The only end of thread TID so far. */
static const struct made_end *
end_of(pid_t tid)
{
    const struct made_end *found = NULL;
    for (unsigned i = 0; i < made_end_count; i++) {
        if (made_ends[i].tid != tid)
            continue;
        assert_null(found);
        found = &made_ends[i];
    }
    assert_non_null(found);
    return found;
}

static void
a_new_thread_is_entered_with_all_its_time(void **state)
{
    (void)state;
    made_begin_sampling();
    assert_int_equal(roster_total(), 1);
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 2 * MADE_MS);
    made_tick();
    assert_int_equal(roster_total(), 2);
    assert_true(roster_has_new());
    assert_false(roster_has_new());
    made_run(MADE_TID, MADE_MS);
    made_tick();
    roster_end(made_now);
    assert_int_equal(end_of(MADE_TID)->cpu, 3 * MADE_MS);
    assert_int_equal(end_of(MADE_TID)->flags,
                     THREAD_END_ALIVE | THREAD_END_EXACT);
}

/* What a thread used before the profiler came is not the profile's. */
static void
an_old_thread_is_entered_without_its_past(void **state)
{
    (void)state;
    made_run(MADE_PID, 7 * MADE_MS);
    made_begin_sampling();
    made_run(MADE_PID, 2 * MADE_MS);
    made_tick();
    roster_end(made_now);
    assert_int_equal(end_of(MADE_PID)->cpu, 2 * MADE_MS);
}

/* The process began before the sampler could: its time has no samples. */
static void
an_early_thread_has_its_past_without_a_stack(void **state)
{
    (void)state;
    made_settings.since = MADE_START;
    made_run(MADE_PID, 3 * MADE_MS);
    made_run(0, 4 * MADE_MS);
    made_begin_sampling();
    assert_int_equal(made_record_count, 1);
    assert_int_equal(made_last(MADE_PID)->flags, SAMPLE_NOT_SAMPLED);
    assert_int_equal(made_last(MADE_PID)->cpu, 3 * MADE_MS);
    assert_int_equal(made_last(MADE_PID)->time, MADE_START);
    assert_int_equal(made_last(MADE_PID)->duration, 7 * MADE_MS);
    roster_end(made_now);
    assert_int_equal(end_of(MADE_PID)->cpu, 3 * MADE_MS);
}

static void
an_end_is_written_once_and_exactly(void **state)
{
    (void)state;
    made_begin_sampling();
    uint64_t start = made_now;
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_tick();
    made_run(MADE_TID, 500);
    made_report_end(MADE_TID, start, "its last name");
    uint64_t time = made_now;
    made_run(0, MADE_MS);
    made_tick();
    assert_int_equal(end_of(MADE_TID)->cpu, MADE_MS + 500);
    assert_int_equal(end_of(MADE_TID)->flags, THREAD_END_EXACT);
    assert_int_equal(end_of(MADE_TID)->time, time);
    /* It is still listed for a while, and runs on. */
    made_run(MADE_TID, 500);
    made_tick();
    made_thread_gone(MADE_TID);
    made_tick();
    roster_end(made_now);
    assert_int_equal(end_of(MADE_TID)->cpu, MADE_MS + 500);
}

/* A thread of a raw clone(2) reports nothing. */
static void
an_end_that_is_not_reported_is_what_was_seen(void **state)
{
    (void)state;
    made_begin_sampling();
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_tick();
    made_run(MADE_TID, 500);
    made_thread_gone(MADE_TID);
    made_tick();
    assert_int_equal(end_of(MADE_TID)->cpu, MADE_MS);
    assert_int_equal(end_of(MADE_TID)->flags, 0);
}

/* Its CPU time is kept by its age, in quarters of a period. */
static void
a_thread_that_came_and_went_is_counted_by_age(void **state)
{
    (void)state;
    made_begin_sampling();
    for (unsigned i = 0; i < 2; i++) {
        made_thread_begin(MADE_TID);
        made_run(MADE_TID, 600000);
        made_report_end(MADE_TID, made_now - 600000, "");
        made_thread_gone(MADE_TID);
        made_tick();
    }
    assert_int_equal(made_record_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(made_records[i].sample.age, i * 250000);
        assert_int_equal(made_records[i].sample.cpu, i < 2 ? 500000 : 200000);
    }
    assert_int_equal(made_cpu(0), 2 * 600000);
    assert_int_equal(roster_total(), 1);
}

/* The kernel's list would bring it after its end was read. */
static void
a_thread_that_is_met_while_it_leaves_counts_once(void **state)
{
    (void)state;
    made_begin_sampling();
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 600000);
    made_report_end(MADE_TID, made_now - 600000, "");
    made_run(MADE_TID, 500);
    made_tick();
    made_thread_gone(MADE_TID);
    made_tick();
    assert_int_equal(made_cpu(0), 0);
    assert_int_equal(end_of(MADE_TID)->cpu, 600000);
    assert_int_equal(end_of(MADE_TID)->flags, THREAD_END_EXACT);
    assert_int_equal(roster_total(), 2);
}

static void
a_tid_that_is_used_again_is_another_thread(void **state)
{
    (void)state;
    made_begin_sampling();
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 5 * MADE_MS);
    made_tick();
    made_report_end(MADE_TID, made_now - 5 * MADE_MS, "");
    /* The kernel gives the tid away before the list is read again. */
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 2 * MADE_MS);
    made_tick();
    assert_int_equal(end_of(MADE_TID)->cpu, 5 * MADE_MS);
    assert_int_equal(roster_total(), 3);
    roster_end(made_now);
    assert_int_equal(made_end_count, 3);
    assert_int_equal(made_ends[2].tid, MADE_TID);
    assert_int_equal(made_ends[2].cpu, 2 * MADE_MS);
    assert_int_not_equal(made_ends[2].serial, made_ends[0].serial);
}

/* A report of before the thread had its tid belongs to the thread before. */
static void
an_end_of_long_ago_is_not_that_of_its_successor(void **state)
{
    (void)state;
    made_begin_sampling();
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_report_end(MADE_TID, made_now - MADE_MS, "");
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 30 * MADE_MS);
    /* A sample of the successor enters it before the report is read. */
    assert_int_not_equal(threads_index(MADE_TID), THREADS_NONE);
    thread_time_of(threads_index(MADE_TID))->seen = 30 * MADE_MS;
    made_tick();
    assert_int_equal(made_end_count, 0);
}

static void
the_list_is_read_when_it_may_have_changed(void **state)
{
    (void)state;
    made_begin_sampling();
    unsigned before = made_list_readings;
    for (unsigned i = 0; i < 90; i++) {
        made_run(MADE_PID, MADE_MS);
        made_tick();
    }
    assert_int_equal(made_list_readings, before);
    made_run(MADE_PID, 2 * ROSTER_NS);
    made_tick();
    assert_int_equal(made_list_readings, before);
    made_run(MADE_PID, 1000 * MADE_MS);
    made_tick();
    assert_int_equal(made_list_readings, before + 1);
    made_thread_begin(MADE_TID);
    made_tick();
    assert_int_equal(made_list_readings, before + 2);
    assert_int_equal(roster_total(), 2);
}

/* It may take 1/50 of the time while threads come and go, else 1/1000. */
static void
a_dear_list_is_read_less_often(void **state)
{
    (void)state;
    made_begin_sampling();
    made_list_cost = MADE_MS;
    made_thread_begin(MADE_TID);
    made_tick();
    unsigned before = made_list_readings;
    for (unsigned i = 1; i <= 100; i++) {
        made_run(MADE_PID, MADE_MS);
        threads_touch();
        made_tick();
        assert_int_equal(made_list_readings, before + i / 50);
    }
    for (unsigned i = 1; i <= 10; i++) {
        made_run(MADE_PID, 100 * MADE_MS);
        made_tick();
        assert_int_equal(made_list_readings, before + 2 + i / 10);
    }
}

static void
begin_with_unregistered_thread(void)
{
    made_options.threads.number = OPTION_THREADS_REGISTERED;
    made_begin_sampling();
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 3 * MADE_MS);
    made_tick();
}

static void
a_thread_that_did_not_register_is_left_out(void **state)
{
    (void)state;
    begin_with_unregistered_thread();
    made_report_end(MADE_TID, made_now, "");
    made_tick();
    roster_end(made_now);
    assert_int_equal(roster_total(), 0);
    assert_int_equal(made_record_count + made_end_count, 0);
    assert_int_equal(made_thread_of(MADE_TID)->asked, 0);
}

/* Of the time since a thread registered nothing is lost, however late the
 * sampler comes. */
static void
a_thread_belongs_to_the_profile_since_it_registered(void **state)
{
    (void)state;
    begin_with_unregistered_thread();
    made_register(MADE_TID);
    made_run(MADE_TID, 50 * MADE_MS);
    made_register(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    roster_add_registered();
    made_tick();
    assert_int_equal(roster_total(), 1);
    roster_end(made_now);
    assert_int_equal(end_of(MADE_TID)->cpu, 51 * MADE_MS);
}

static void
a_registered_thread_may_end_before_it_is_met(void **state)
{
    (void)state;
    begin_with_unregistered_thread();
    made_register(MADE_TID);
    made_run(MADE_TID, MADE_MS / 2);
    made_report_end(MADE_TID, made_now - MADE_MS, "");
    made_thread_gone(MADE_TID);
    made_tick();
    assert_int_equal(made_cpu(0), MADE_MS / 2);
    /* The next thread of that number did not register. */
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_tick();
    assert_int_equal(roster_total(), 0);
}

/* What a thread does between two sessions is not shown, registered or not. */
static void
a_thread_may_register_between_two_sessions(void **state)
{
    (void)state;
    made_options.threads.number = OPTION_THREADS_REGISTERED;
    made_begin_sampling();
    roster_end(made_now);
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_register(MADE_TID);
    made_run(MADE_TID, 7 * MADE_MS);
    roster_prepare();
    roster_start(made_now, true);
    observe_begin();
    made_run(MADE_TID, 2 * MADE_MS);
    made_tick();
    roster_end(made_now);
    assert_int_equal(end_of(MADE_TID)->cpu, 2 * MADE_MS);
}

static void
time_between_two_sessions_is_left_out(void **state)
{
    (void)state;
    made_begin_sampling();
    made_run(MADE_PID, 2 * MADE_MS);
    made_tick();
    roster_end(made_now);
    roster_end(made_now);
    assert_int_equal(made_end_count, 1);
    made_run(MADE_PID, 10 * MADE_MS);
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 4 * MADE_MS);
    roster_prepare();
    roster_start(made_now, true);
    observe_begin();
    made_run(MADE_PID, 3 * MADE_MS);
    made_run(MADE_TID, MADE_MS);
    made_tick();
    roster_end(made_now);
    assert_int_equal(made_end_count, 3);
    assert_int_equal(made_ends[1].cpu, 5 * MADE_MS);
    assert_int_equal(made_ends[2].cpu, MADE_MS);
    assert_int_equal(roster_total(), 2);
}

static void
each_file_of_a_rotation_has_its_own_time(void **state)
{
    (void)state;
    made_begin_sampling();
    made_run(MADE_PID, 2 * MADE_MS);
    made_tick();
    made_run(MADE_PID, MADE_MS);
    roster_before_rotate(made_now);
    assert_int_equal(end_of(MADE_PID)->cpu, 3 * MADE_MS);
    assert_true(end_of(MADE_PID)->flags & THREAD_END_ALIVE);
    roster_after_rotate();
    made_run(MADE_PID, 4 * MADE_MS);
    made_tick();
    roster_end(made_now);
    assert_int_equal(made_end_count, 2);
    assert_int_equal(made_ends[1].cpu, 4 * MADE_MS);
}

static void
the_last_thread_leaves_the_sampler_alone(void **state)
{
    (void)state;
    made_begin_sampling();
    made_tick();
    assert_false(roster_is_alone());
    made_thread_gone(MADE_PID);
    made_run(0, MADE_MS);
    made_tick();
    assert_true(roster_is_alone());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_thread_is_entered_with_all_its_time,
                               begin),
        cmocka_unit_test_setup(an_old_thread_is_entered_without_its_past,
                               begin),
        cmocka_unit_test_setup(an_early_thread_has_its_past_without_a_stack,
                               begin),
        cmocka_unit_test_setup(an_end_is_written_once_and_exactly, begin),
        cmocka_unit_test_setup(an_end_that_is_not_reported_is_what_was_seen,
                               begin),
        cmocka_unit_test_setup(a_thread_that_came_and_went_is_counted_by_age,
                               begin),
        cmocka_unit_test_setup(a_thread_that_is_met_while_it_leaves_counts_once,
                               begin),
        cmocka_unit_test_setup(a_tid_that_is_used_again_is_another_thread,
                               begin),
        cmocka_unit_test_setup(an_end_of_long_ago_is_not_that_of_its_successor,
                               begin),
        cmocka_unit_test_setup(the_list_is_read_when_it_may_have_changed,
                               begin),
        cmocka_unit_test_setup(a_dear_list_is_read_less_often, begin),
        cmocka_unit_test_setup(a_thread_that_did_not_register_is_left_out,
                               begin),
        cmocka_unit_test_setup(
            a_thread_belongs_to_the_profile_since_it_registered, begin),
        cmocka_unit_test_setup(a_registered_thread_may_end_before_it_is_met,
                               begin),
        cmocka_unit_test_setup(a_thread_may_register_between_two_sessions,
                               begin),
        cmocka_unit_test_setup(time_between_two_sessions_is_left_out, begin),
        cmocka_unit_test_setup(each_file_of_a_rotation_has_its_own_time, begin),
        cmocka_unit_test_setup(the_last_thread_leaves_the_sampler_alone, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
