/* SPDX-License-Identifier: MIT */
/* waiting_test.c -- the notes of where a thread waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/thread_local.h"
#include "base/words.h"
#include "capture/waiting.h"

#define TIDS (1u << 22)
#define THREADS 4u
#define OWN 2u /* the index of this thread */

static struct shared_thread threads[THREADS];
static _Atomic uint32_t indexes[TIDS];

/* Returns the pc of this thread's note, 0 if it has none. */
static uint64_t
noted(void)
{
    struct regs at;
    return waiting_read(OWN, &at) ? at.pc : 0;
}

/* A hook. All of its calls come from one place, in ENTER. */
static void
hook(struct waiting *waiting, uint64_t pc, uint64_t sp)
{
    const struct regs at = {.pc = pc, .sp = sp, .fp = 1};
    waiting_begin(waiting, &at);
}

static void (*volatile hook_function)(struct waiting *, uint64_t,
                                      uint64_t) = hook;

static __attribute__((noinline)) struct waiting
enter(uint64_t pc, uint64_t sp)
{
    struct waiting waiting;
    hook_function(&waiting, pc, sp);
    return waiting;
}

static int
begin(void **state)
{
    (void)state;
    words_begin();
    thread_local_begin();
    phase_begin();
    phase_set(PHASE_RUNNING);
    shared.threads = threads;
    shared.thread_count = THREADS;
    shared.index_of_tid = indexes;
    shared.tid_count = TIDS;
    for (unsigned i = 0; i < THREADS; i++)
        threads[i] = (struct shared_thread){0};
    indexes[thread_local_tid()] = OWN + 1;
    waiting_forget(0);
    return 0;
}

static void
a_note_lasts_as_long_as_the_call(void **state)
{
    struct regs at;
    (void)state;
    struct waiting outer = enter(11, 9000);
    assert_true(waiting_read(OWN, &at));
    assert_int_equal(at.pc, 11);
    assert_int_equal(at.sp, 9000);
    assert_int_equal(at.fp, 1);
    /* A handler on top of it waits, too. */
    struct waiting inner = enter(12, 5000);
    assert_int_equal(noted(), 12);
    waiting_end(&inner);
    assert_int_equal(noted(), 11);
    waiting_end(&outer);
    assert_int_equal(noted(), 0);
    assert_false(waiting_read(OWN + 1, &at));
    assert_false(waiting_read(THREADS, &at));
}

/* The thread has left the first call by a jump. */
static void
a_note_above_another_replaces_it(void **state)
{
    (void)state;
    (void)enter(11, 5000);
    struct waiting next = enter(12, 9000);
    assert_int_equal(noted(), 12);
    waiting_end(&next);
    assert_int_equal(noted(), 0);
}

static void
a_sample_elsewhere_removes_a_note(void **state)
{
    (void)state;
    (void)enter(11, 9000);
    waiting_check(&threads[OWN], 9000);
    waiting_check(&threads[OWN], 9000 - WAITING_FRAMES + 1);
    assert_int_equal(noted(), 11);
    waiting_check(&threads[OWN], 9000 - WAITING_FRAMES);
    assert_int_equal(noted(), 0);
    (void)enter(11, 9000);
    waiting_check(&threads[OWN], 9001);
    assert_int_equal(noted(), 0);
}

static void
a_new_thread_has_no_note_and_its_own_place(void **state)
{
    (void)state;
    struct waiting old = enter(11, 9000);
    /* The thread's place becomes another's, and the thread gets a new one. */
    waiting_forget(OWN);
    indexes[thread_local_tid()] = OWN + 2;
    assert_int_equal(noted(), 0);
    struct waiting inner = enter(12, 5000);
    assert_int_equal(noted(), 0);
    assert_int_equal(threads[OWN + 1].waits.pc, 12);
    threads[OWN].waits.pc = 13;
    waiting_end(&inner);
    waiting_end(&old);
    assert_int_equal(noted(), 13);
    assert_int_equal(threads[OWN + 1].waits.pc, 0);
}

static void
who_is_not_profiled_makes_no_note(void **state)
{
    (void)state;
    indexes[thread_local_tid()] = 0;
    struct waiting waiting = enter(11, 9000);
    assert_null(waiting.thread);
    waiting_end(&waiting);
    indexes[thread_local_tid()] = OWN + 1;
    phase_set(PHASE_ENDED);
    waiting = enter(11, 9000);
    assert_null(waiting.thread);
    assert_int_equal(noted(), 0);
}

/* What this thread has waited at SITE, in ns; and in how many CALLS. */
static uint64_t
had(unsigned site, uint64_t *calls)
{
    struct waiting_time times[SHARED_SITES];
    (void)waiting_times(OWN, clock_now(), times);
    *calls = times[site].calls;
    return waiting_idle(&times[site], times[site].ns);
}

#define MS 1000000u

/* A call of this thread at SP that sleeps for some ms. Returns how long that
 * took at most, in ns. */
static uint64_t
sleep_at(uint64_t sp)
{
    uint64_t before = clock_now();
    struct waiting waiting = enter(11, sp);
    const struct timespec time = {.tv_nsec = 2 * MS};
    nanosleep(&time, NULL);
    waiting_end(&waiting);
    return clock_now() - before;
}

/* And one that uses CPU ns in the call. Returns how long it did not run, at
 * most. */
static uint64_t
spin_at(uint64_t sp, uint64_t cpu)
{
    uint64_t before = clock_now(), from = clock_own();
    struct waiting waiting = enter(11, sp);
    while (clock_own() - from < cpu)
        continue;
    waiting_end(&waiting);
    return clock_now() - before - cpu;
}

static void
calls_are_measured_while_that_is_wanted(void **state)
{
    uint64_t calls;
    (void)state;
    (void)sleep_at(9000);
    assert_int_equal(had(0, &calls), 0);
    assert_int_equal(calls, 0);
    waiting_measure(OWN, true);
    uint64_t most = sleep_at(9000) + sleep_at(9000);
    /* What it runs to fall asleep is CPU time, and in no site. */
    assert_in_range(had(0, &calls), 3 * MS, most);
    assert_int_equal(calls, 2);
    uint64_t other = sleep_at(8000);
    assert_in_range(had(1, &calls), MS, other);
    assert_int_equal(calls, 1);
    waiting_measure(OWN, false);
    uint64_t then = had(0, &calls);
    (void)sleep_at(9000);
    assert_int_equal(had(0, &calls), then);
    assert_int_equal(calls, 2);
}

/* A call that reads a file from memory waits for nothing. */
static void
cpu_time_in_a_call_is_no_wait(void **state)
{
    uint64_t calls;
    (void)state;
    waiting_measure(OWN, true);
    uint64_t most = spin_at(9000, 5 * MS);
    assert_in_range(had(0, &calls), 0, most);
    assert_int_equal(calls, 1);
}

/* Calls that return at once are not measured but now and then. Where they begin
 * to wait, all are. */
static void
calls_that_do_not_wait_are_skipped(void **state)
{
    uint64_t calls, before;
    (void)state;
    waiting_measure(OWN, true);
    for (unsigned i = 0; i < 1000; i++)
        (void)spin_at(9000, 0);
    (void)had(0, &calls);
    assert_in_range(calls, 8, 300);
    for (unsigned i = 0; i < 200; i++)
        (void)sleep_at(9000);
    before = had(0, &calls);
    uint64_t counted = calls;
    (void)sleep_at(9000);
    assert_true(had(0, &calls) > before + MS);
    assert_int_equal(calls, counted + 1);
}

static void
the_present_call_counts(void **state)
{
    struct waiting_time times[SHARED_SITES];
    (void)state;
    waiting_measure(OWN, true);
    uint64_t before = clock_now();
    struct waiting waiting = enter(11, 9000);
    assert_int_equal(waiting_times(OWN, before + 70 * MS, times), 0);
    assert_in_range(times[0].ns, 1, 70 * MS);
    assert_int_equal(times[0].calls, 0);
    waiting_end(&waiting);
    assert_int_equal(waiting_times(OWN, clock_now(), times), SHARED_SITES);
}

/* A handler that waits on top of a wait has its own time. */
static void
an_interrupted_call_has_the_rest(void **state)
{
    uint64_t calls;
    (void)state;
    waiting_measure(OWN, true);
    uint64_t before = clock_now();
    struct waiting outer = enter(11, 9000);
    (void)sleep_at(5000);
    waiting_end(&outer);
    uint64_t all = clock_now() - before, inner = had(1, &calls);
    assert_true(inner >= MS);
    assert_int_equal(calls, 1);
    assert_in_range(had(0, &calls), 0, all - inner);
    assert_int_equal(calls, 1);
}

/* Calls at more sites than there is room for have no time. */
static void
one_site_too_many(void **state)
{
    uint64_t calls;
    (void)state;
    waiting_measure(OWN, true);
    for (unsigned i = 0; i <= SHARED_SITES; i++)
        (void)sleep_at(9000 + 100 * i);
    for (unsigned i = 0; i < SHARED_SITES; i++)
        assert_in_range(had(i, &calls), MS, UINT64_MAX);
    (void)sleep_at(9000);
    (void)had(0, &calls);
    assert_int_equal(calls, 2);
    /* An old one gives its place to another. */
    waiting_retire(OWN, 3, true);
    uint64_t most = sleep_at(8000);
    assert_in_range(had(3, &calls), MS, most);
    assert_int_equal(calls, 1);
    (void)sleep_at(9300);
    assert_in_range(had(3, &calls), MS, most);
    assert_int_equal(calls, 1);
}

/* Even an old site keeps its place while its call is interrupted. */
static void
a_site_is_not_taken_from_its_call(void **state)
{
    uint64_t calls;
    (void)state;
    waiting_measure(OWN, true);
    for (unsigned i = 0; i < SHARED_SITES; i++)
        (void)sleep_at(9000 + 100 * i);
    waiting_retire(OWN, 0, true);
    struct waiting outer = enter(11, 9000);
    (void)sleep_at(8000);
    waiting_end(&outer);
    (void)had(0, &calls);
    assert_int_equal(calls, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_note_lasts_as_long_as_the_call, begin),
        cmocka_unit_test_setup(a_note_above_another_replaces_it, begin),
        cmocka_unit_test_setup(a_sample_elsewhere_removes_a_note, begin),
        cmocka_unit_test_setup(a_new_thread_has_no_note_and_its_own_place,
                               begin),
        cmocka_unit_test_setup(who_is_not_profiled_makes_no_note, begin),
        cmocka_unit_test_setup(calls_are_measured_while_that_is_wanted, begin),
        cmocka_unit_test_setup(cpu_time_in_a_call_is_no_wait, begin),
        cmocka_unit_test_setup(calls_that_do_not_wait_are_skipped, begin),
        cmocka_unit_test_setup(the_present_call_counts, begin),
        cmocka_unit_test_setup(an_interrupted_call_has_the_rest, begin),
        cmocka_unit_test_setup(one_site_too_many, begin),
        cmocka_unit_test_setup(a_site_is_not_taken_from_its_call, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
