/* SPDX-License-Identifier: MIT */
/* harvest_test.c -- which thread a sample belongs to, what it stands for, and
 * what becomes of a question without an answer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "process/threads.h"
#include "sampling/epoch.h"
#include "sampling/asking.h"
#include "sampling/harvest.h"
#include "sampling/rates.h"
#include "sampling/thread_time.h"
#include "sampling_maker.h"

#define PC 4096u /* where the thread of a sample is */

static void
harvest(void)
{
    harvest_begin_round(64, 0);
    harvest_slots();
}

/* Ask thread TID for 1 ms of its time. */
static bool
ask(pid_t tid)
{
    uint32_t index = threads_index(tid);

    bool is_sent = asking_sample(thread_time_of(index), index,
                                 made_thread_of(tid)->cpu, made_now);
    asking_weigh(thread_time_of(index), MADE_MS);
    return is_sent;
}

static void
an_answer_stands_for_what_was_asked(void **state)
{
    (void)state;
    made_run(MADE_PID, MADE_MS);
    assert_true(ask(MADE_PID));
    assert_true(harvest_is_waiting(0));
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    harvest();
    assert_false(harvest_is_waiting(0));
    assert_int_equal(made_record_count, 1);
    assert_int_equal(made_last(MADE_PID)->cpu, MADE_MS);
    assert_int_equal(made_last(MADE_PID)->wall, MADE_MS);
    assert_int_equal(made_last(MADE_PID)->age, MADE_MS);
    assert_int_equal(made_last(MADE_PID)->node, PC);
    assert_int_equal(thread_time_sums()->counts.taken, 1);
    assert_true(made_sums_add_up());
}

/* A sample of a thread's own clock stands for the time between two of them. */
static void
own_samples_stand_for_their_period(void **state)
{
    struct thread_time *account = thread_time_of(threads_index(MADE_PID));
    (void)state;
    made_run(MADE_PID, 3 * MADE_MS);
    made_sample(MADE_PID, TRIGGER_PERF, PC);
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, MADE_PERIOD);
    account->trigger = TRIGGER_TIMER;
    made_sample(MADE_PID, TRIGGER_TIMER, PC);
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 4 * MADE_MS);
    assert_int_equal(made_rearmed, 1);
    /* The one shot of a young thread says where it is, and weighs nothing. */
    account->trigger = TRIGGER_ASK;
    made_sample(MADE_PID, TRIGGER_TIMER, PC);
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 0);
    assert_int_equal(thread_time_sums()->counts.taken, 3);
    assert_true(made_sums_add_up());
}

/* A sample of perf when the thread has run for NS more, of which the kernel
 * counted KERNEL. Returns what it stands for. */
static uint64_t
weigh(uint64_t ns, uint64_t kernel, bool is_at_call)
{
    static uint64_t in_kernel;
    made_run(MADE_PID, ns);
    struct slot *slot = made_sample(MADE_PID, TRIGGER_PERF, PC);
    in_kernel += kernel;
    slot->clock = made_thread_of(MADE_PID)->cpu;
    slot->kernel = in_kernel;
    slot->in_syscall = is_at_call;
    harvest();
    return made_last(MADE_PID)->cpu;
}

/* Let the thread have a beat, of one period. */
static void
make_beat(void)
{
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(weigh(MADE_PERIOD, 0, false), MADE_PERIOD);
}

/* The signals that a system call held back are one sample. With a beat, the
 * call had a point for each whole beat, and the next beat counts from there. */
static void
a_call_stands_for_all_its_points(void **state)
{
    (void)state;
    make_beat();
    assert_int_equal(weigh(5 * MADE_PERIOD / 2, 0, true), 2 * MADE_PERIOD);
    assert_int_equal(weigh(MADE_PERIOD / 2, 0, false), MADE_PERIOD);
    assert_int_equal(weigh(7 * MADE_PERIOD / 4, 0, true), MADE_PERIOD);
    assert_int_equal(weigh(5 * MADE_PERIOD / 4, 0, true), 2 * MADE_PERIOD);
    assert_int_equal(weigh(40 * MADE_PERIOD, 0, true), 40 * MADE_PERIOD);
    /* It came a moment early: that is no beat that the next one has twice. */
    assert_int_equal(weigh(99 * MADE_PERIOD / 100, 0, true), MADE_PERIOD);
    assert_int_equal(weigh(19 * MADE_PERIOD / 10, 0, true), MADE_PERIOD);
}

/* The points of a machine that stood still are those of the next samples. */
static void
a_stall_is_shared(void **state)
{
    (void)state;
    make_beat();
    assert_int_equal(weigh(4 * MADE_PERIOD, 0, false), 2 * MADE_PERIOD);
    assert_int_equal(weigh(MADE_PERIOD, 0, false), 2 * MADE_PERIOD);
    assert_int_equal(weigh(21 * MADE_PERIOD, 0, true), 21 * MADE_PERIOD);
    assert_int_equal(weigh(MADE_PERIOD, 0, false), 2 * MADE_PERIOD);
    assert_int_equal(weigh(MADE_PERIOD, 0, false), MADE_PERIOD);
    /* Or it was in the kernel, of which there are other samples. */
    made_is_split = true;
    assert_int_equal(weigh(3 * MADE_PERIOD, 0, false), MADE_PERIOD);
}

/* Without a beat, the kernel's ticks count, but no more than the clock says.
 * The next call gets what they count too little or too much. */
static void
a_call_without_a_beat_stands_for_its_ticks(void **state)
{
    (void)state;
    (void)weigh(3 * MADE_PERIOD, 0, false);
    assert_int_equal(weigh(9 * MADE_PERIOD, 0, true), MADE_PERIOD);
    assert_int_equal(weigh(9 * MADE_PERIOD, 6 * MADE_PERIOD, true),
                     5 * MADE_PERIOD);
    assert_int_equal(weigh(3 * MADE_PERIOD, 5 * MADE_PERIOD, true),
                     3 * MADE_PERIOD);
    assert_int_equal(weigh(9 * MADE_PERIOD, 0, true), 2 * MADE_PERIOD);
    assert_int_equal(weigh(9 * MADE_PERIOD, 9 * MADE_PERIOD, false),
                     MADE_PERIOD);
}

/* Ticks find a thread at the end of each slice: its own samples are closer than
 * ticks, and so are the points of its calls. */
static void
a_call_is_counted_as_the_program_is(void **state)
{
    static const uint64_t gaps[] = {MADE_PERIOD / 4, MADE_PERIOD / 2,
                                    3 * MADE_PERIOD / 4};
    uint64_t cpu = 0;
    (void)state;
    (void)weigh(3 * MADE_PERIOD, 0, false);
    for (unsigned i = 0; i < 99; i++)
        (void)weigh(gaps[i % 3], 0, false);
    for (unsigned i = 0; i < 8; i++)
        cpu += weigh(8 * MADE_PERIOD, 8 * MADE_PERIOD, true);
    assert_in_range(cpu, 120 * MADE_PERIOD, 136 * MADE_PERIOD);
}

/* The thread has run for NS and has a sample whose clock was not read. */
static void
sample_without_clock(uint64_t ns)
{
    made_run(MADE_PID, ns);
    made_sample(MADE_PID, TRIGGER_PERF, PC)->clock = CLOCK_NONE;
    harvest();
}

/* Where the last samples have no clock, each stands for a point, and the wall
 * time since then is a bound. What remains must be more than their error; else
 * the kernel's ticks are used. */
static void
a_call_after_samples_without_a_clock(void **state)
{
    (void)state;
    make_beat();
    for (unsigned i = 0; i < 3; i++)
        sample_without_clock(MADE_PERIOD);
    assert_int_equal(weigh(7 * MADE_PERIOD / 2, 0, true), 3 * MADE_PERIOD);
    for (unsigned i = 0; i < 30; i++)
        sample_without_clock(6 * MADE_PERIOD / 5);
    /* It had no CPU. */
    made_now += 100 * MADE_MS;
    assert_int_equal(weigh(MADE_PERIOD / 2, 0, true), MADE_PERIOD);
    for (unsigned i = 0; i < 30; i++)
        sample_without_clock(6 * MADE_PERIOD / 5);
    assert_int_equal(weigh(MADE_PERIOD, 9 * MADE_PERIOD, true), MADE_PERIOD);
    sample_without_clock(MADE_PERIOD);
    assert_int_equal(weigh(90 * MADE_PERIOD, 88 * MADE_PERIOD, true),
                     90 * MADE_PERIOD);
}

/* Also at a system call, because what runs there meanwhile is asked for, too.
 */
static void
an_answer_at_a_call_stands_for_the_same(void **state)
{
    (void)state;
    make_beat();
    made_run(MADE_PID, 2 * MADE_MS);
    assert_true(ask(MADE_PID));
    thread_time_of(threads_index(MADE_PID))->asked_for += 40 * MADE_MS;
    made_run(MADE_PID, 40 * MADE_MS);
    struct slot *slot = made_sample(MADE_PID, TRIGGER_ASK, PC);
    slot->in_syscall = true;
    slot->kernel = 40 * MADE_MS;
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 41 * MADE_MS);
}

/* Samples that were lost are a part of the next one, and half of them of the
 * one before. */
static void
a_sample_stands_for_those_that_were_lost(void **state)
{
    (void)state;
    made_run(MADE_PID, 3 * MADE_PERIOD);
    struct slot *slot = made_sample(MADE_PID, TRIGGER_PERF, PC);
    slot->owed = 2;
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 3 * MADE_PERIOD);
    assert_int_equal(thread_time_sums()->counts.taken, 1);
    made_run(MADE_PID, 6 * MADE_PERIOD);
    slot = made_sample(MADE_PID, TRIGGER_PERF, PC + 1);
    slot->owed = 5;
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 4 * MADE_PERIOD);
    assert_int_equal(made_records[1].sample.cpu, 2 * MADE_PERIOD);
    assert_int_equal(made_records[1].sample.node, PC);
    assert_int_equal(made_records[1].sample.count, 0);
    assert_int_equal(thread_time_sums()->counts.taken, 2);
}

/* What a hook measured is no part of a later sample, wherever that lies. */
static void
samples_are_taken_in_the_order_of_their_times(void **state)
{
    (void)state;
    make_beat();
    made_run(MADE_PID, 21 * MADE_PERIOD);
    struct slot *late = made_sample(MADE_PID, TRIGGER_PERF, PC);
    struct slot *early = made_sample(MADE_PID, TRIGGER_HOOK, PC + 1);
    late->clock = made_thread_of(MADE_PID)->cpu;
    late->in_syscall = true;
    early->measured = 20 * MADE_PERIOD;
    early->clock = late->clock - MADE_PERIOD;
    early->time -= MADE_PERIOD;
    harvest();
    assert_int_equal(made_last(MADE_PID)->node, PC);
    assert_int_equal(made_last(MADE_PID)->cpu, MADE_PERIOD);
}

/* A thread has one trigger at a time: its time would count twice. */
static void
a_thread_that_perf_reaches_has_no_other_trigger(void **state)
{
    static const enum trigger others[] = {TRIGGER_TIMER, TRIGGER_ASK};
    struct thread_time *account = thread_time_of(threads_index(MADE_PID));
    (void)state;
    made_trigger = TRIGGER_PERF;
    for (unsigned i = 0; i < 2; i++) {
        account->trigger = others[i];
        made_run(MADE_PID, 3 * MADE_MS);
        made_sample(MADE_PID, TRIGGER_PERF, PC);
        harvest();
        assert_int_equal(account->trigger, TRIGGER_PERF);
        made_sample(MADE_PID, TRIGGER_TIMER, PC);
        harvest();
        assert_int_equal(made_last(MADE_PID)->cpu, 0);
        assert_int_equal(account->trigger, TRIGGER_PERF);
    }
}

static void
what_a_hook_measured_was_not_asked_for(void **state)
{
    (void)state;
    made_run(MADE_PID, 9 * MADE_MS);
    made_sample(MADE_PID, TRIGGER_HOOK, PC)->measured = 7 * MADE_MS;
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 7 * MADE_MS);
    assert_int_equal(thread_time_sums()->counts.asked, 0);
    assert_int_equal(thread_time_sums()->counts.taken, 0);
    assert_int_equal(thread_time_sums()->measured, 1);
    /* The kernel's part of it is not the next call's. */
    assert_int_equal(weigh(9 * MADE_PERIOD, 7 * MADE_MS, true), MADE_PERIOD);
    assert_int_equal(weigh(9 * MADE_PERIOD, 4 * MADE_PERIOD, true),
                     4 * MADE_PERIOD);
}

/* Its clock may bring a sample before the list of threads is read. */
static void
a_sample_enters_a_thread_that_is_not_listed(void **state)
{
    (void)state;
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_sample(MADE_TID, TRIGGER_PERF, PC);
    harvest();
    assert_int_equal(made_last(MADE_TID)->age, MADE_MS);
    assert_int_equal(roster_total(), 2);
}

static void
a_sample_after_the_end_is_that_of_the_successor(void **state)
{
    (void)state;
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, 5 * MADE_MS);
    made_tick();
    uint32_t first = threads_at(threads_index(MADE_TID))->serial;
    /* Taken before the end, harvested after it. */
    made_sample(MADE_TID, TRIGGER_PERF, PC);
    made_run(0, 1000);
    made_report_end(MADE_TID, made_now, "");
    roster_update(made_now);
    harvest();
    assert_int_equal(made_records[made_record_count - 1].serial, first);
    /* The thread runs on for a moment. */
    made_run(MADE_TID, 1000);
    made_sample(MADE_TID, TRIGGER_PERF, PC);
    harvest();
    assert_int_equal(made_records[made_record_count - 1].serial, first);
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_sample(MADE_TID, TRIGGER_PERF, PC);
    harvest();
    assert_int_not_equal(made_records[made_record_count - 1].serial, first);
    assert_int_equal(made_last(MADE_TID)->age, MADE_MS);
}

/* A clock that cannot be read says less, so time alone decides. */
static void
without_a_clock_time_tells_the_successor(void **state)
{
    (void)state;
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    made_tick();
    made_report_end(MADE_TID, made_now, "");
    made_tick();
    uint64_t end = made_now;
    uint32_t serial = threads_at(threads_index(MADE_TID))->serial;
    uint32_t index =
        harvest_find_thread(MADE_TID, end + HARVEST_LEAVING_NS, UINT64_MAX);
    assert_int_equal(threads_at(index)->serial, serial);
    index =
        harvest_find_thread(MADE_TID, end + HARVEST_LEAVING_NS + 1, UINT64_MAX);
    assert_int_not_equal(threads_at(index)->serial, serial);
}

static void
a_thread_that_never_runs_again_is_given_up(void **state)
{
    (void)state;
    uint64_t asked = made_now;
    assert_true(ask(MADE_PID));
    made_run(0, 50 * MADE_MS);
    harvest();
    assert_true(harvest_is_waiting(asked));
    /* A stop does not wait for what was asked long before it. */
    assert_false(harvest_is_waiting(asked + 1));
    harvest_give_up(LOSS_SILENT);
    assert_false(harvest_is_waiting(0));
    assert_int_equal(thread_time_sums()->lost[LOSS_SILENT], 1);
    assert_int_equal(thread_time_sums()->in_flight, 0);
    assert_true(made_sums_add_up());
    /* It runs after all. Its answer was given up already, and is not counted
     * again. */
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    harvest();
    assert_int_equal(made_record_count, 0);
    assert_int_equal(slot_state(slots_at(0)->state), SLOT_FREE);
    assert_true(made_sums_add_up());
}

static void
an_answer_to_an_earlier_question_is_dropped(void **state)
{
    (void)state;
    assert_true(ask(MADE_PID));
    harvest_give_up(LOSS_SILENT);
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    assert_true(ask(MADE_PID));
    harvest();
    assert_int_equal(made_record_count, 0);
    assert_true(harvest_is_waiting(0));
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    harvest();
    assert_int_equal(made_record_count, 1);
    assert_true(made_sums_add_up());
}

static void
a_thread_that_ends_loses_its_question(void **state)
{
    (void)state;
    made_thread_begin(MADE_TID);
    made_run(MADE_TID, MADE_MS);
    roster_update(made_now);
    assert_true(ask(MADE_TID));
    made_thread_gone(MADE_TID);
    roster_update(made_now);
    assert_int_equal(thread_time_sums()->lost[LOSS_EXITED], 1);
    assert_false(harvest_is_waiting(0));
    assert_true(made_sums_add_up());
}

static void
a_question_that_cannot_be_sent_is_lost(void **state)
{
    (void)state;
    made_ask_result = -EAGAIN;
    assert_false(ask(MADE_PID));
    made_ask_result = -ESRCH;
    assert_false(ask(MADE_PID));
    assert_int_equal(thread_time_sums()->lost[LOSS_QUEUE_FULL], 1);
    assert_int_equal(thread_time_sums()->lost[LOSS_EXITED], 1);
    assert_int_equal(thread_time_sums()->in_flight, 0);
    assert_true(made_sums_add_up());
}

static void
a_sample_without_room_is_lost(void **state)
{
    (void)state;
    assert_true(ask(MADE_PID));
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    made_journal_is_full = true;
    harvest();
    assert_int_equal(thread_time_sums()->lost[LOSS_SPOOL_FULL], 1);
    assert_int_equal(thread_time_sums()->counts.taken, 0);
    assert_true(made_sums_add_up());
}

static void
what_handlers_lost_was_asked_for(void **state)
{
    (void)state;
    made_lost[LOSS_RING_FULL] = 3;
    made_lost[LOSS_THROTTLED] = 2;
    harvest();
    assert_int_equal(thread_time_sums()->counts.asked, 5);
    assert_int_equal(thread_time_sums()->lost[LOSS_RING_FULL], 3);
    harvest();
    assert_int_equal(thread_time_sums()->counts.asked, 5);
    assert_true(made_sums_add_up());
}

/* A walk that needs a newer module map waits until what was walked under the
 * old one is harvested. */
static void
unfinished_walks_wait_for_the_map(void **state)
{
    (void)state;
    made_map_is_old = true;
    made_sample(MADE_PID, TRIGGER_PERF, PC)->unfinished = true;
    made_sample(MADE_PID, TRIGGER_PERF, PC + 1);
    harvest_slots();
    assert_int_equal(made_records_at_map, 1);
    assert_int_equal(made_record_count, 2);
    assert_int_equal(made_last(MADE_PID)->node, PC);
}

static uint32_t listened;

static bool
listen(struct slot *slot)
{
    return slot->sequence == listened;
}

static void
a_listener_takes_the_answers_that_are_its_own(void **state)
{
    (void)state;
    harvest_listen(listen);
    assert_true(ask(MADE_PID));
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    listened = made_thread_of(MADE_PID)->cookie;
    harvest();
    assert_int_equal(made_record_count, 0);
    made_sample(MADE_PID, TRIGGER_ASK, PC);
    listened++;
    harvest();
    assert_int_equal(made_record_count, 1);
    harvest_listen(NULL);
}

/* A sample that was on its way when the rate changed is one of the old rate. */
static void
a_late_sample_stands_for_the_period_of_its_time(void **state)
{
    (void)state;
    made_run(MADE_PID, 3 * MADE_MS);
    made_sample(MADE_PID, TRIGGER_PERF, PC);
    epoch_change(4 * MADE_PERIOD, made_now + 1);
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, MADE_PERIOD);
    made_run(MADE_PID, 3 * MADE_MS);
    made_sample(MADE_PID, TRIGGER_PERF, PC);
    harvest();
    assert_int_equal(made_last(MADE_PID)->cpu, 4 * MADE_PERIOD);
}

/* Below the rate that was asked for, it is the cost that limits it. Samples are
 * due at the rate that was asked for. */
static void
what_a_lower_rate_leaves_out_is_due(void **state)
{
    const uint64_t *due = thread_time_sums()->due_cpu;
    struct thread_time *account = thread_time_of(threads_index(MADE_PID));
    struct rate rate;
    (void)state;
    account->trigger = TRIGGER_PERF;
    rates_run(account, 10 * MADE_MS);
    epoch_change(4 * MADE_PERIOD, made_now);
    rates_run(account, 15 * MADE_MS);
    rates_run(account, 95 * MADE_MS);
    assert_int_equal(due[LIMIT_COST], 80 * MADE_MS);
    assert_int_equal(due[LIMIT_MERGED] + due[LIMIT_SHORT], 15 * MADE_MS);
    rates_sum(thread_time_sums(), &rate);
    assert_int_equal(rate.due[LIMIT_COST], 80 * 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_answer_stands_for_what_was_asked,
                               made_set_up),
        cmocka_unit_test_setup(a_call_stands_for_all_its_points, made_set_up),
        cmocka_unit_test_setup(a_stall_is_shared, made_set_up),
        cmocka_unit_test_setup(a_call_is_counted_as_the_program_is,
                               made_set_up),
        cmocka_unit_test_setup(a_call_without_a_beat_stands_for_its_ticks,
                               made_set_up),
        cmocka_unit_test_setup(a_call_after_samples_without_a_clock,
                               made_set_up),
        cmocka_unit_test_setup(an_answer_at_a_call_stands_for_the_same,
                               made_set_up),
        cmocka_unit_test_setup(a_sample_stands_for_those_that_were_lost,
                               made_set_up),
        cmocka_unit_test_setup(samples_are_taken_in_the_order_of_their_times,
                               made_set_up),
        cmocka_unit_test_setup(own_samples_stand_for_their_period, made_set_up),
        cmocka_unit_test_setup(a_thread_that_perf_reaches_has_no_other_trigger,
                               made_set_up),
        cmocka_unit_test_setup(what_a_hook_measured_was_not_asked_for,
                               made_set_up),
        cmocka_unit_test_setup(a_sample_enters_a_thread_that_is_not_listed,
                               made_set_up),
        cmocka_unit_test_setup(a_sample_after_the_end_is_that_of_the_successor,
                               made_set_up),
        cmocka_unit_test_setup(without_a_clock_time_tells_the_successor,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_never_runs_again_is_given_up,
                               made_set_up),
        cmocka_unit_test_setup(an_answer_to_an_earlier_question_is_dropped,
                               made_set_up),
        cmocka_unit_test_setup(a_thread_that_ends_loses_its_question,
                               made_set_up),
        cmocka_unit_test_setup(a_question_that_cannot_be_sent_is_lost,
                               made_set_up),
        cmocka_unit_test_setup(a_sample_without_room_is_lost, made_set_up),
        cmocka_unit_test_setup(what_handlers_lost_was_asked_for, made_set_up),
        cmocka_unit_test_setup(unfinished_walks_wait_for_the_map, made_set_up),
        cmocka_unit_test_setup(a_late_sample_stands_for_the_period_of_its_time,
                               made_set_up),
        cmocka_unit_test_setup(what_a_lower_rate_leaves_out_is_due,
                               made_set_up),
        cmocka_unit_test_setup(a_listener_takes_the_answers_that_are_its_own,
                               made_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
