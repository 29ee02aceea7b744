/* SPDX-License-Identifier: MIT */
/* waiting_test.c -- the notes of where a thread waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static struct waiting
enter(uint64_t pc, uint64_t sp)
{
    struct waiting waiting;
    const struct regs at = {.pc = pc, .sp = sp, .fp = 1};
    waiting_begin(&waiting, &at);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
