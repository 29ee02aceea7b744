/* SPDX-License-Identifier: MIT */
/* in_line_test.c -- where a thread stands in line for a CPU, and what it is
 * asked then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "process/threads.h"
#include "sampling/in_line.h"
#include "sampling/observe.h"
#include "sampling/roster.h"
#include "sampling/thread_time.h"
#include "sampling_maker.h"

/* Between two looks a thread waits at one place, and then shortly at another,
 * three times. A look finds it in line there, and counts all of the time for
 * that place, as it does where a thread waits. */
static void
a_look_finds_a_thread_in_line(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    made_pass(MADE_PID, MADE_MS);
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_wake(MADE_PID);
    thread->noted = WAITS_ELSEWHERE;
    made_run(0, 4 * MADE_MS);
    thread->queued += 4 * MADE_MS;
    thread->slices += 4;
    made_run(MADE_PID, 50000);
    made_pass(0, MADE_MS);
    /* It still stands there. The kernel counts a line when it is over. */
    made_pass(0, 2 * MADE_MS);
    thread->queued += 3 * MADE_MS;
    thread->slices++;
    thread->noted = 0;
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 10 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS, STATE_RUNQUEUE), 0);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING), 0);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_RUNQUEUE),
                     7 * MADE_MS);
}

/* The thread stands in line for 6 ms, then runs again. */
static void
stand_in_line(void)
{
    for (unsigned i = 0; i < 5; i++)
        made_pass(MADE_PID, MADE_MS);
    for (unsigned i = 0; i < 6; i++) {
        made_thread_of(MADE_PID)->queued += MADE_MS;
        made_pass(0, MADE_MS);
    }
    made_pass(MADE_PID, MADE_MS);
}

/* The thread ends AWAY ns after the last look, and did not run in this time. */
static void
end_later(uint64_t away)
{
    uint32_t index = threads_index(MADE_PID);
    const struct thread_time *account = thread_time_of(index);
    observe_end_thread(index, account->seen, account->known_from,
                       account->seen_at + away, true);
}

/* A thread has no stack before its first sample. */
static void
a_thread_in_line_before_its_first_sample(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        made_thread_of(MADE_PID)->queued += MADE_MS;
        made_pass(0, MADE_MS);
    }
    for (unsigned i = 0; i < 5; i++)
        made_pass(MADE_PID, MADE_MS);
    end_later(0);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING), 0);
    assert_int_equal(made_wall(MADE_PID, STATE_RUNQUEUE), 6 * MADE_MS);
}

static void
a_thread_in_line_ends_without_a_wait(void **state)
{
    (void)state;
    stand_in_line();
    end_later(20 * MADE_MS);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING), 0);
    assert_int_equal(made_wall(MADE_PID, STATE_RUNQUEUE), 26 * MADE_MS);
}

/* It has waited, so its last time without a CPU may be another wait. */
static void
a_thread_that_waited_ends_with_a_wait(void **state)
{
    (void)state;
    stand_in_line();
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_wake(MADE_PID);
    made_pass(MADE_PID, MADE_MS);
    end_later(20 * MADE_MS);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING), 30 * MADE_MS);
    assert_int_equal(made_wall(MADE_PID, STATE_RUNQUEUE), 6 * MADE_MS);
}

/* The thread wakes from short waits so often, and runs for a tenth of the time.
 */
static void
wake_often(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        made_run(0, 900000);
        made_pass(MADE_PID, 100000);
    }
}

/* In line after a wait, it would answer where it wakes. If no look finds it
 * running, it may have the CPU that the sampler needs. */
static void
a_thread_that_may_wake_is_asked_where_it_runs(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    thread->noted = WAITS;
    made_pass(MADE_PID, 2 * MADE_MS);
    unsigned before = thread->asked;
    wake_often(100);
    assert_int_equal(thread->asked, before);
    thread->runs_on = 1;
    wake_often(1);
    thread->runs_on = 0;
    assert_int_equal(thread->asked, before + 1);
    wake_often(600);
    assert_int_equal(thread->asked, before + 1);
    wake_often(100);
    assert_in_range(thread->asked, before + 2, before + 100);
}

/* THREAD runs, and wakes from a wait with a note. */
static void
wait_with_a_note(struct made_thread *thread)
{
    made_pass(MADE_PID, MADE_MS);
    thread->noted = WAITS_ELSEWHERE;
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_wake(MADE_PID);
}

/* THREAD stands in line for 4 ms, once. */
static void
stand_for_4_ms(struct made_thread *thread)
{
    made_run(0, 4 * MADE_MS);
    thread->queued += 4 * MADE_MS;
    thread->slices++;
}

/* A look that finds the thread running does not show where it stood in line, if
 * it waits now and then. */
static void
a_running_thread_tells_no_place_of_a_line(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    wait_with_a_note(thread);
    made_run(0, MADE_MS);
    made_pass(MADE_PID, 50000);
    thread->noted = 0;
    made_pass(MADE_PID, MADE_MS);
    stand_for_4_ms(thread);
    thread->runs_on = 1;
    made_pass(MADE_PID, MADE_MS);
    thread->runs_on = 0;
    thread->noted = WAITS_ELSEWHERE;
    made_run(0, MADE_MS);
    made_pass(MADE_PID, 50000);
    roster_end(made_now);
    assert_int_equal(made_wall_at(RUNS, STATE_RUNQUEUE), 0);
    assert_in_range(made_wall_at(WAITS_ELSEWHERE, STATE_RUNQUEUE),
                    4 * MADE_MS - 10, 4 * MADE_MS);
}

/* THREAD waits, runs, and then stands in line outside a wait. */
static void
lose_the_cpu(struct made_thread *thread)
{
    wait_with_a_note(thread);
    thread->noted = 0;
    made_pass(MADE_PID, MADE_MS);
    stand_for_4_ms(thread);
    made_run(MADE_PID, 50000);
    made_tick();
}

/* It has lost its CPU outside a wait. The answer says where, and is no sample.
 */
static void
a_thread_that_lost_its_cpu_says_where(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    lose_the_cpu(thread);
    uint32_t index = threads_index(MADE_PID);
    assert_true(thread_time_of(index)->in_flight);
    made_sample(MADE_PID, TRIGGER_ASK, RUNS_ELSEWHERE);
    made_tick();
    assert_false(thread_time_of(index)->in_flight);
    roster_end(made_now);
    assert_int_equal(made_wall_at(RUNS_ELSEWHERE, STATE_RUNQUEUE), 4 * MADE_MS);
    assert_int_equal(made_wall_at(RUNS_ELSEWHERE, STATE_RUNNING), 0);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 10 * MADE_MS);
    assert_true(made_sums_add_up());
}

/* 4 ms in line of which no look tells the place; a long time passes. Returns
 * when that was. */
static uint64_t
stand_without_a_place(struct thread_time *account)
{
    struct made_thread *thread = made_thread_of(MADE_PID);
    lose_the_cpu(thread);
    assert_int_equal(account->unplaced, 4 * MADE_MS);
    uint64_t then = made_now;
    made_run(MADE_PID, 200 * MADE_MS);
    return then;
}

static void
a_line_without_a_place_is_shown_at_its_time(void **state)
{
    uint32_t index = threads_index(MADE_PID);
    struct thread_time *account = thread_time_of(index);

    (void)state;
    uint64_t then = stand_without_a_place(account);
    in_line_guess(account, index, made_now);
    assert_int_equal(account->unplaced, 0);
    const struct record_sample *line = made_last(MADE_PID);
    assert_int_equal(line->state, STATE_RUNQUEUE);
    assert_int_equal(line->time + line->duration, then);
    assert_int_equal(line->wall, 4 * MADE_MS);
}

static void
a_line_without_a_place_stays_in_its_file(void **state)
{
    struct thread_time *account = thread_time_of(threads_index(MADE_PID));

    (void)state;
    (void)stand_without_a_place(account);
    roster_before_rotate(made_now);
    assert_int_equal(made_wall(MADE_PID, STATE_RUNQUEUE), 4 * MADE_MS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_look_finds_a_thread_in_line, made_set_up),
        cmocka_unit_test_setup(a_thread_in_line_before_its_first_sample,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_in_line_ends_without_a_wait,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_waited_ends_with_a_wait,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_may_wake_is_asked_where_it_runs,
                               made_set_up),
        cmocka_unit_test_setup(a_running_thread_tells_no_place_of_a_line,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_lost_its_cpu_says_where,
                               made_set_up),
        cmocka_unit_test_setup(a_line_without_a_place_is_shown_at_its_time,
                               made_set_up),
        cmocka_unit_test_setup(a_line_without_a_place_stays_in_its_file,
                               made_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
