/* SPDX-License-Identifier: MIT */
/* observe_test.c -- whether all of a thread's time is shown, and only once: CPU
 * time by questions, the rest where the thread waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "base/clock.h"
#include "process/threads.h"
#include "sampling/harvest.h"
#include "sampling/quiet.h"
#include "sampling/thread_time.h"
#include "sampling_maker.h"

static void
weights_add_up_to_cpu_time(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 200; i++)
        made_pass(MADE_PID, MADE_MS / 2 + i % 7 * 100000);
    made_tick();
    /* It is not asked before it has run for a millisecond. */
    uint64_t cpu = made_thread_of(MADE_PID)->cpu;
    assert_true(made_cpu(MADE_PID) <= cpu);
    assert_true(made_cpu(MADE_PID) >= cpu - 2 * MADE_MS);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING), 0);
    assert_true(made_sums_add_up());
    /* If the process is killed now, the file has its clock. */
    assert_int_equal(made_clock_count, 1);
    assert_int_equal(made_clocks[0].thread,
                     threads_at(threads_index(MADE_PID))->serial);
    assert_in_range(made_clocks[0].cpu, cpu - 2 * MADE_MS, cpu);
}

static void
wall_time_is_split_exactly(void **state)
{
    (void)state;
    uint64_t start = made_now;
    for (unsigned i = 0; i < 10; i++) {
        for (unsigned j = 0; j < 5; j++)
            made_pass(MADE_PID, MADE_MS);
        made_wait(MADE_PID, WAITS + i);
        made_pass_waits(20 * MADE_MS);
        made_wake(MADE_PID);
    }
    roster_end(made_now);
    uint64_t cpu = made_thread_of(MADE_PID)->cpu;
    assert_int_equal(cpu, 50 * MADE_MS);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING),
                     made_now - start - cpu);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 10);
    assert_int_equal(made_ends[0].cpu, cpu);
}

/* The run between two waits is so short that no sample shows it. */
static void
a_wait_at_the_same_place_is_the_same_record(void **state)
{
    (void)state;
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_run(MADE_PID, 50000);
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 1);
    made_run(MADE_PID, 50000);
    made_wait(MADE_PID, WAITS_ELSEWHERE);
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 2);
    assert_int_equal(made_last(MADE_PID)->node, WAITS_ELSEWHERE);
    roster_end(made_now);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING), 30 * MADE_MS);
}

/* The process ends. */
static void
a_thread_that_is_kept_in_the_handler_does_not_wait(void **state)
{
    (void)state;
    made_keeps = true;
    made_pass(MADE_PID, MADE_MS);
    made_wait(MADE_PID, WAITS);
    made_thread_of(MADE_PID)->call = SYS_futex;
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 0);
    made_keeps = false;
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 1);
}

static void
a_thread_that_never_runs_again_is_not_looked_at(void **state)
{
    (void)state;
    uint64_t began = made_thread_begin(MADE_TID)->began;
    made_run(MADE_TID, 10000);
    made_wait(MADE_TID, WAITS);
    for (unsigned i = 0; i < 5; i++)
        made_pass(MADE_PID, MADE_MS);
    unsigned looks = made_thread_of(MADE_TID)->looks;
    for (unsigned i = 0; i < 95; i++)
        made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_thread_of(MADE_TID)->looks, looks);
    assert_int_equal(made_count(MADE_TID, STATE_WAITING), 1);
    /* Only the thread itself knows that it began before the first look. */
    made_report_end(MADE_TID, began, "");
    made_tick();
    assert_int_equal(made_wall(MADE_TID, STATE_WAITING), 100 * MADE_MS);
}

/* The process has used CPU time that no thread explains that was looked at. */
static void
a_quiet_thread_that_runs_is_found(void **state)
{
    (void)state;
    for (pid_t tid = MADE_TID; tid < MADE_TID + 3; tid++) {
        made_thread_begin(tid);
        made_wait(tid, WAITS);
    }
    for (unsigned i = 0; i < 10; i++)
        made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_count(MADE_TID + 1, STATE_WAITING), 1);
    made_run(MADE_TID + 1, 30000);
    made_wait(MADE_TID + 1, WAITS_ELSEWHERE);
    made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_count(MADE_TID, STATE_WAITING), 1);
    assert_int_equal(made_count(MADE_TID + 1, STATE_WAITING), 2);
    assert_int_equal(made_last(MADE_TID + 1)->node, WAITS_ELSEWHERE);
}

/* No other CPU time ever adds to that of a short run. */
static void
a_short_run_in_an_idle_process_is_found(void **state)
{
    (void)state;
    for (pid_t tid = MADE_TID; tid < MADE_TID + 3; tid++) {
        made_thread_begin(tid);
        made_wait(tid, WAITS);
    }
    made_pass_waits(10 * MADE_MS);
    made_run(MADE_TID + 1, 8000);
    made_wait(MADE_TID + 1, WAITS_ELSEWHERE);
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_count(MADE_TID + 1, STATE_WAITING), 2);
    assert_int_equal(made_last(MADE_TID + 1)->node, WAITS_ELSEWHERE);
    assert_int_equal(made_count(MADE_TID, STATE_WAITING), 1);
}

/* A thread is not noticed, as other CPU time was explained twice. */
static void
a_run_beside_too_much_that_is_explained_is_found(void **state)
{
    (void)state;
    made_thread_begin(MADE_TID);
    made_wait(MADE_TID, WAITS);
    made_pass_waits(10 * MADE_MS);
    quiet_explain(MADE_MS);
    made_run(MADE_TID, 100000);
    made_wait(MADE_TID, WAITS_ELSEWHERE);
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_last(MADE_TID)->node, WAITS_ELSEWHERE);
}

/* CPU time of threads that came and went needs no look. */
static void
explained_cpu_time_needs_no_look(void **state)
{
    (void)state;
    made_thread_begin(MADE_TID);
    made_wait(MADE_TID, WAITS);
    for (unsigned i = 0; i < 70; i++) /* until it is quiet */
        made_pass(MADE_PID, MADE_MS);
    uint64_t looks = thread_time_sums()->counts.kept;
    made_thread_begin(MADE_TID + 1);
    made_run(MADE_TID + 1, 400000);
    made_report_end(MADE_TID + 1, made_now, "");
    made_thread_gone(MADE_TID + 1);
    made_own += 500000; /* nor does the sampler's own */
    made_pass(MADE_PID, MADE_MS);
    assert_int_equal(thread_time_sums()->counts.kept, looks);
}

static void
new_labels_show_another_wait(void **state)
{
    (void)state;
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_run(MADE_PID, 1000); /* too little to be noticed */
    made_label(MADE_PID, 5);
    made_pass_waits(10 * MADE_MS);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 2);
    assert_int_equal(made_last(MADE_PID)->label, 5);
}

static void
time_without_a_cpu_is_no_wait(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        made_pass(MADE_PID, MADE_MS);
    for (unsigned i = 0; i < 6; i++) {
        made_thread_of(MADE_PID)->queued += MADE_MS;
        made_pass(0, MADE_MS);
    }
    made_pass(MADE_PID, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall(MADE_PID, STATE_WAITING), 0);
    assert_int_equal(made_wall(MADE_PID, STATE_RUNQUEUE), 6 * MADE_MS);
    for (unsigned i = 0; i < made_record_count; i++)
        assert_int_equal(made_records[i].sample.node, RUNS);
}

/* Looks are rarer after a long wait. What is between the last look at it and
 * the first at the next one is shared. */
static void
the_next_wait_has_no_more_than_half_of_a_late_look(void **state)
{
    (void)state;
    made_pass(MADE_PID, MADE_MS);
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_run(0, 9 * MADE_MS);
    made_wake(MADE_PID);
    made_run(MADE_PID, 50000);
    made_wait(MADE_PID, WAITS_ELSEWHERE);
    made_pass(0, 2 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 15 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING), 6 * MADE_MS);
    /* Where looks are as close as they can be, the next wait has all of the
     * time between. */
    made_run(0, MADE_MS / 2);
    made_wake(MADE_PID);
    made_run(MADE_PID, 50000);
    made_wait(MADE_PID, WAITS);
    made_pass(0, MADE_MS / 2);
    roster_end(made_now);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 16 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING), 6 * MADE_MS);
}

/* A thread that wakes stands in line for a CPU where it waited, whatever it
 * does when it has one. */
static void
the_line_after_a_wait_is_at_its_place(void **state)
{
    (void)state;
    made_pass(MADE_PID, MADE_MS);
    made_wait(MADE_PID, WAITS);
    made_pass_waits(10 * MADE_MS);
    made_wake(MADE_PID);
    made_run(0, 6 * MADE_MS);
    made_thread_of(MADE_PID)->queued += 6 * MADE_MS;
    made_run(MADE_PID, 50000);
    made_wait(MADE_PID, WAITS_ELSEWHERE);
    made_pass(0, MADE_MS);
    roster_end(made_now);
    assert_int_equal(made_wall(MADE_PID, STATE_RUNQUEUE), 6 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS, STATE_WAITING), 10 * MADE_MS);
    assert_int_equal(made_wall_at(WAITS_ELSEWHERE, STATE_WAITING), MADE_MS);
    for (unsigned i = 0; i < made_record_count; i++)
        if (made_records[i].sample.state == STATE_RUNQUEUE)
            assert_int_equal(made_records[i].sample.node, WAITS);
}

/* The answer would cut its next wait short. RUNS_ON: looks find it running. */
static void
wake_after_long(uint64_t runs_on)
{
    made_wait(MADE_PID, WAITS);
    made_pass_waits(100 * MADE_MS);
    made_wake(MADE_PID);
    made_thread_of(MADE_PID)->runs_on = runs_on;
    unsigned before = made_thread_of(MADE_PID)->asked;
    made_pass(MADE_PID, 400000);
    made_pass(MADE_PID, 400000);
    assert_int_equal(made_thread_of(MADE_PID)->asked, before);
    made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_thread_of(MADE_PID)->asked, before + 1);
}

static void
a_thread_that_just_woke_is_not_asked(void **state)
{
    (void)state;
    wake_after_long(0);
}

static void
a_thread_that_just_woke_and_runs_is_not_asked(void **state)
{
    (void)state;
    wake_after_long(1);
}

static void
a_thread_in_flight_is_not_asked_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        made_run(MADE_PID, MADE_MS);
        made_tick();
    }
    assert_int_equal(made_thread_of(MADE_PID)->asked, 1);
    /* The answer stands for what it runs meanwhile, too. */
    assert_int_equal(thread_time_of(threads_index(MADE_PID))->asked_for,
                     10 * MADE_MS);
    made_refusal = LOSS_UNFIT;
    made_run(MADE_PID, MADE_MS);
    made_tick();
    assert_int_equal(thread_time_sums()->lost[LOSS_UNFIT], 1);
    assert_int_equal(made_thread_of(MADE_PID)->asked, 2);
    assert_true(made_sums_add_up());
}

/* A fork has a sample of its own: the question stands for what is left. */
static void
a_measured_call_is_not_shown_twice(void **state)
{
    (void)state;
    made_run(MADE_PID, 4 * MADE_MS);
    made_measured = 3 * MADE_MS;
    made_tick();
    made_sample(MADE_PID, TRIGGER_ASK, RUNS);
    harvest_slots();
    assert_int_equal(made_cpu(MADE_PID), MADE_MS);
}

static int
begin_perf(void **state)
{
    (void)state;
    made_begin();
    made_trigger = TRIGGER_PERF;
    made_begin_sampling();
    return 0;
}

static void
a_trigger_that_brings_samples_stays(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        made_pass(MADE_PID, MADE_MS);
        made_sample(MADE_PID, TRIGGER_PERF, RUNS);
    }
    assert_int_equal(made_doubts, 0);
    assert_int_equal(made_thread_of(MADE_PID)->asked, 0);
}

/* A busy thread is looked at up to 128 ms apart. */
static void
a_trigger_stays_when_looks_are_rare(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        made_run(MADE_PID, 125 * MADE_MS);
        made_sample(MADE_PID, TRIGGER_PERF, RUNS)->clock = CLOCK_NONE;
        made_tick();
    }
    assert_int_equal(made_doubts, 0);
}

/* The sampler may lose its CPU between the harvest and the look. The samples of
 * that time are harvested at the next tick. */
static void
a_trigger_stays_when_a_look_is_late(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        made_run(MADE_PID, 500 * MADE_MS);
        made_tick();
        made_sample(MADE_PID, TRIGGER_PERF, RUNS);
        made_tick();
    }
    assert_int_equal(made_doubts, 0);
}

static void
a_trigger_that_brings_none_falls_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 99; i++)
        made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_doubts, 0);
    for (unsigned i = 0; i < 110; i++)
        made_pass(MADE_PID, MADE_MS);
    /* The second time it is known that the thread is outside the kernel. */
    assert_int_equal(made_doubts, 2);
    assert_true(made_may_ask);
    assert_true(made_thread_of(MADE_PID)->asked > 0);
}

/* A signal would end its system call before that has done all. */
static void
a_thread_in_the_kernel_is_not_asked_for_that(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        made_pass(MADE_PID, MADE_MS);
        made_thread_of(MADE_PID)->user = 0;
    }
    assert_true(made_doubts > 2);
    assert_false(made_may_ask);
    assert_int_equal(made_thread_of(MADE_PID)->asked, 0);
}

static int
begin_cpu_only(void **state)
{
    (void)state;
    made_begin();
    made_options.mode.number = OPTION_MODE_CPU;
    made_begin_sampling();
    return 0;
}

static void
cpu_only_shows_no_waits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        made_pass(MADE_PID, MADE_MS);
    made_wait(MADE_PID, WAITS);
    made_run(MADE_PID, 300000);
    made_pass_waits(20 * MADE_MS);
    made_wake(MADE_PID);
    made_pass(MADE_PID, 1700000);
    made_tick();
    roster_end(made_now);
    assert_int_equal(made_count(MADE_PID, STATE_WAITING), 0);
    assert_true(made_count(MADE_PID, STATE_RUNNING) > 5);
    assert_int_equal(made_ends[0].cpu, 7 * MADE_MS);
}

static int
begin_untriggered(void **state)
{
    (void)state;
    made_begin();
    made_trigger = TRIGGER_NONE;
    made_begin_sampling();
    return 0;
}

/* A tracer forbids signals. */
static void
a_thread_without_a_trigger_has_time_without_a_stack(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 250; i++)
        made_pass(MADE_PID, MADE_MS);
    assert_int_equal(made_count(MADE_PID, STATE_RUNNING), 2);
    roster_end(made_now);
    assert_int_equal(made_count(MADE_PID, STATE_RUNNING), 3);
    assert_int_equal(made_cpu(MADE_PID), 250 * MADE_MS);
    for (unsigned i = 0; i < made_record_count; i++)
        assert_int_equal(made_records[i].sample.flags, SAMPLE_NOT_SAMPLED);
    assert_int_equal(made_thread_of(MADE_PID)->asked, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(weights_add_up_to_cpu_time, made_set_up),
        cmocka_unit_test_setup(wall_time_is_split_exactly, made_set_up),
        cmocka_unit_test_setup(a_wait_at_the_same_place_is_the_same_record,
                               made_set_up),
        cmocka_unit_test_setup(
            a_thread_that_is_kept_in_the_handler_does_not_wait, made_set_up),
        cmocka_unit_test_setup(a_thread_that_never_runs_again_is_not_looked_at,
                               made_set_up),
        cmocka_unit_test_setup(a_quiet_thread_that_runs_is_found, made_set_up),
        cmocka_unit_test_setup(a_short_run_in_an_idle_process_is_found,
                               made_set_up),
        cmocka_unit_test_setup(a_run_beside_too_much_that_is_explained_is_found,
                               made_set_up),
        cmocka_unit_test_setup(explained_cpu_time_needs_no_look, made_set_up),
        cmocka_unit_test_setup(new_labels_show_another_wait, made_set_up),
        cmocka_unit_test_setup(time_without_a_cpu_is_no_wait, made_set_up),
        cmocka_unit_test_setup(
            the_next_wait_has_no_more_than_half_of_a_late_look, made_set_up),
        cmocka_unit_test_setup(the_line_after_a_wait_is_at_its_place,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_just_woke_is_not_asked,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_just_woke_and_runs_is_not_asked,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_in_flight_is_not_asked_again,
                               made_set_up),
        cmocka_unit_test_setup(a_measured_call_is_not_shown_twice, made_set_up),
        cmocka_unit_test_setup(a_trigger_that_brings_samples_stays, begin_perf),
        cmocka_unit_test_setup(a_trigger_stays_when_looks_are_rare, begin_perf),
        cmocka_unit_test_setup(a_trigger_stays_when_a_look_is_late, begin_perf),
        cmocka_unit_test_setup(a_trigger_that_brings_none_falls_back,
                               begin_perf),
        cmocka_unit_test_setup(a_thread_in_the_kernel_is_not_asked_for_that,
                               begin_perf),
        cmocka_unit_test_setup(cpu_only_shows_no_waits, begin_cpu_only),
        cmocka_unit_test_setup(
            a_thread_without_a_trigger_has_time_without_a_stack,
            begin_untriggered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
