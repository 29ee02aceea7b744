/* SPDX-License-Identifier: MIT */
/*
 * mark_ring_test.c -- marks from several threads to one: none is lost without
 * being counted, none comes twice, none is mixed with another.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/state.h"
#include "labels/mark_ring.h"

#define THREADS 4u
#define EACH 20000u

static int
begin(void **state)
{
    (void)state;
    state_renew_profile();
    return mark_ring_begin();
}

/* A mark whose parts all hold TIME. */
static uint32_t
put(uint64_t time)
{
    const struct mark mark = {.time = time,
                              .duration = time * 2,
                              .tid = (int)time + 1,
                              .label = (uint32_t)time + 2,
                              .kind = (uint32_t)time % 2};
    char name[MARK_RING_NAME];
    int length =
        snprintf(name, sizeof name, "mark %llu", (unsigned long long)time);

    return mark_ring_put(&mark, name, (size_t)length);
}

static void
expect_whole(const struct mark *mark)
{
    char name[MARK_RING_NAME];

    snprintf(name, sizeof name, "mark %llu", (unsigned long long)mark->time);
    assert_string_equal(mark->name, name);
    assert_int_equal(mark->duration, mark->time * 2);
    assert_int_equal(mark->tid, mark->time + 1);
    assert_int_equal(mark->label, mark->time + 2);
    assert_int_equal(mark->kind, mark->time % 2);
}

static void
marks_come_in_their_order(void **state)
{
    struct mark mark;

    (void)state;
    assert_false(mark_ring_take(&mark));
    for (unsigned round = 0; round < 3 * MARK_RING_PLACES / 100; round++) {
        for (unsigned i = 0; i < 100; i++)
            assert_int_equal(put(i), i + 1);
        for (unsigned i = 0; i < 100; i++) {
            assert_true(mark_ring_take(&mark));
            assert_int_equal(mark.time, i);
            expect_whole(&mark);
        }
        assert_false(mark_ring_take(&mark));
    }
    assert_int_equal(mark_ring_take_lost(), 0);
}

static void
a_full_ring_refuses_and_counts(void **state)
{
    struct mark mark;
    unsigned taken = 0;

    (void)state;
    for (unsigned i = 0; i < MARK_RING_PLACES; i++)
        assert_int_equal(put(i), i + 1);
    assert_int_equal(put(1), 0);
    assert_int_equal(put(1), 0);
    assert_int_equal(mark_ring_take_lost(), 2);
    assert_int_equal(mark_ring_take_lost(), 0);
    while (mark_ring_take(&mark)) {
        expect_whole(&mark);
        taken++;
    }
    assert_int_equal(taken, MARK_RING_PLACES);
    assert_int_not_equal(put(1), 0);
}

/* In the child of a fork, what its parent had taken is gone. */
static void
a_ring_begins_anew(void **state)
{
    struct mark mark;

    (void)state;
    for (unsigned i = 0; i < MARK_RING_PLACES / 2; i++)
        put(i);
    state_renew_profile();
    assert_int_equal(mark_ring_begin(), 0);
    assert_false(mark_ring_take(&mark));
    for (unsigned i = 0; i < MARK_RING_PLACES; i++)
        assert_int_equal(put(i), i + 1);
}

static _Atomic uint32_t refused;
static _Atomic uint32_t running;

static void *
produce(void *number)
{
    uint64_t first = (uint64_t)(uintptr_t)number * EACH;

    for (uint64_t i = 0; i < EACH; i++)
        if (put(first + i) == 0)
            atomic_fetch_add(&refused, 1);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void
no_mark_of_any_thread_is_lost(void **state)
{
    static uint8_t seen[THREADS * EACH];
    pthread_t threads[THREADS];
    uint32_t taken = 0, lost = 0;
    struct mark mark;
    bool is_last;

    (void)state;
    atomic_store(&running, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, (void *)i),
                         0);
    do {
        is_last = atomic_load(&running) == 0;
        while (mark_ring_take(&mark)) {
            expect_whole(&mark);
            assert_int_equal(seen[mark.time]++, 0);
            taken++;
        }
        lost += mark_ring_take_lost();
    } while (!is_last);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(lost, atomic_load(&refused));
    assert_int_equal(taken + lost, THREADS * EACH);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(marks_come_in_their_order, begin),
        cmocka_unit_test_setup(a_full_ring_refuses_and_counts, begin),
        cmocka_unit_test_setup(a_ring_begins_anew, begin),
        cmocka_unit_test_setup(no_mark_of_any_thread_is_lost, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
