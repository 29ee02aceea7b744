/* SPDX-License-Identifier: MIT */
/* wait_times_test.c -- waits that are shorter than looks are apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "process/threads.h"
#include "sampling/observe.h"
#include "sampling/thread_time.h"
#include "sampling_maker.h"

#define SITES 3u
#define RARE 2u /* a site that no look has found yet */
static const uint64_t places[SITES] = {WAITS, WAITS_ELSEWHERE, 4000};

static int
begin(void **state)
{
    struct made_thread *thread;
    made_set_up(state);
    thread = made_thread_of(MADE_PID);
    for (unsigned i = 0; i < SITES; i++)
        thread->sites[i] = places[i];
    made_pass(MADE_PID, MADE_MS);
    return 0;
}

/* The thread waits at SITE for NS, and is over that. */
static void
wait_shortly(unsigned site, uint64_t ns)
{
    struct made_thread *thread = made_thread_of(MADE_PID);
    made_run(0, ns);
    thread->site_ns[site] += ns;
    thread->site_calls[site]++;
    made_run(MADE_PID, MADE_MS / 20);
}

/* A look finds it in a wait at SITE, which takes NS. */
static void
be_found_at(unsigned site, uint64_t ns)
{
    struct made_thread *thread = made_thread_of(MADE_PID);
    thread->noted = places[site];
    made_wait(MADE_PID, places[site]);
    made_run(0, ns);
    thread->site_ns[site] += ns;
    made_tick();
    thread->site_calls[site]++;
    thread->noted = 0;
    made_wake(MADE_PID);
    made_run(MADE_PID, MADE_MS / 20);
}

/* Between two looks it waits at all sites. All looks find it at the first. */
static void
each_site_has_its_own_time(void **state)
{
    (void)state;
    be_found_at(1, MADE_MS);
    for (unsigned i = 0; i < 10; i++) {
        wait_shortly(1, 3 * MADE_MS);
        be_found_at(0, MADE_MS);
    }
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 10 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING),
                     31 * MADE_MS);
}

/* What it waited where no look had found it yet is shown when one does; the
 * place that looks find meanwhile does not get it. */
static void
a_site_is_found_late(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        wait_shortly(RARE, 2 * MADE_MS);
        be_found_at(0, MADE_MS);
    }
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 10 * MADE_MS);
    be_found_at(RARE, MADE_MS);
    made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_wall_at(4000, STATE_WAITING), 21 * MADE_MS);
}

/* And if none ever does, it is time without a stack, and not lost. */
static void
a_site_is_never_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        wait_shortly(RARE, 2 * MADE_MS);
        be_found_at(0, MADE_MS);
    }
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 10 * MADE_MS);
    assert_int_equal(made_wall_at(0, STATE_WAITING), 20 * MADE_MS);
}

/* It waits at two sites, and then stands in line outside of them. The time in
 * line is not theirs. */
static void
time_in_line_elsewhere_is_not_theirs(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    be_found_at(0, 2 * MADE_MS);
    be_found_at(1, 2 * MADE_MS);
    (void)made_sample(MADE_PID, TRIGGER_PERF, RUNS);
    for (unsigned i = 0; i < 10; i++) {
        made_run(0, 3 * MADE_MS);
        thread->queued += 3 * MADE_MS;
        thread->slices++;
        made_run(MADE_PID, MADE_MS / 20);
        be_found_at(i % 2, MADE_MS);
    }
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 7 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING), 7 * MADE_MS);
    assert_int_equal(made_wall_at(RUNS, STATE_RUNQUEUE), 30 * MADE_MS);
}

/* The machine stands still while the thread wakes from a wait: the place of
 * that wait has it, though other waits followed. */
static void
the_machine_stands_still_in_a_wait(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    be_found_at(0, MADE_MS);
    be_found_at(1, MADE_MS);
    thread->queued += 100 * MADE_MS;
    thread->slices += 2;
    wait_shortly(1, 101 * MADE_MS);
    wait_shortly(0, MADE_MS);
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING) +
                         made_wall_at(WAITS, STATE_RUNQUEUE),
                     2 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING) +
                         made_wall_at(WAITS_ELSEWHERE, STATE_RUNQUEUE),
                     102 * MADE_MS);
    assert_in_range(made_wall_at(WAITS_ELSEWHERE, STATE_RUNQUEUE), 49 * MADE_MS,
                    100 * MADE_MS);
}

/* A site without waits gives its place to another. Both have their times. */
static void
a_site_leaves_its_place(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    be_found_at(1, 3 * MADE_MS);
    for (unsigned i = 0; i < 70; i++)
        be_found_at(0, MADE_MS);
    assert_true(thread->is_old[1]);
    assert_false(thread->is_old[0]);
    thread->sites[1] = 5000;
    thread->site_ns[1] = thread->site_calls[1] = 0;
    wait_shortly(1, 2 * MADE_MS);
    made_tick();
    assert_false(thread->is_old[1]);
    thread->noted = 5000;
    made_wait(MADE_PID, 5000);
    made_run(0, MADE_MS);
    thread->site_ns[1] += MADE_MS;
    made_tick();
    made_wake(MADE_PID);
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 70 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING), 3 * MADE_MS);
    assert_int_equal(made_wall_at(5000, STATE_WAITING), 3 * MADE_MS);
}

/* The labels of a wait are those of the moment, and no look told them. */
static void
a_thread_with_labels_is_not_measured(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    assert_true(thread->measures);
    made_label(MADE_PID, 5);
    be_found_at(0, MADE_MS);
    assert_false(thread->measures);
    made_pass(MADE_PID, MADE_MS);
    be_found_at(0, 20 * MADE_MS);
    made_pass(MADE_PID, MADE_MS);
    assert_false(thread->measures);
}

/* A thread that only computes measures nothing after a while. */
static void
a_thread_that_never_waits_is_not_measured(void **state)
{
    struct made_thread *thread = made_thread_of(MADE_PID);

    (void)state;
    assert_true(thread->measures);
    for (unsigned i = 0; i < 20; i++)
        made_pass(MADE_PID, 10 * MADE_MS);
    assert_false(thread->measures);
    be_found_at(0, 20 * MADE_MS);
    made_pass(MADE_PID, MADE_MS);
    assert_true(thread->measures);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_site_has_its_own_time, begin),
        cmocka_unit_test_setup(a_site_is_found_late, begin),
        cmocka_unit_test_setup(a_site_is_never_found, begin),
        cmocka_unit_test_setup(time_in_line_elsewhere_is_not_theirs, begin),
        cmocka_unit_test_setup(the_machine_stands_still_in_a_wait, begin),
        cmocka_unit_test_setup(a_site_leaves_its_place, begin),
        cmocka_unit_test_setup(a_thread_with_labels_is_not_measured, begin),
        cmocka_unit_test_setup(a_thread_that_never_waits_is_not_measured,
                               begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
