/* SPDX-License-Identifier: MIT */
/* deadlock_test.c -- circles of threads, each found once, held against a search
 * that does nothing clever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "live/stacks.h"

enum { NONE = (int)DEADLOCK_NONE };

static struct deadlocks deadlocks;

static void
find(const uint32_t *owners, uint32_t count, uint32_t expected)
{
    assert_int_equal(deadlock_find(&deadlocks, owners, count), 0);
    assert_int_equal(deadlocks.count, expected);
}

/* Circle NUMBER is THREADS, and OUTSIDE wait for it; both end with NONE. */
static void
expect(uint32_t number, const uint32_t *threads, const uint32_t *outside)
{
    const struct deadlock *deadlock = &deadlocks.all[number];
    uint32_t i;

    for (i = 0; threads[i] != DEADLOCK_NONE; i++)
        assert_int_equal(deadlocks.threads[deadlock->first + i], threads[i]);
    assert_int_equal(deadlock->count, i);
    for (i = 0; outside[i] != DEADLOCK_NONE; i++)
        assert_int_equal(deadlocks.threads[deadlock->first_outside + i],
                         outside[i]);
    assert_int_equal(deadlock->outside, i);
}

#define LIST(...) ((const uint32_t[]){__VA_ARGS__, NONE})

static void
nobody_waits(void **state)
{
    (void)state;
    find(NULL, 0, 0);
    deadlock_release(&deadlocks);
    find(LIST(NONE, NONE, NONE), 3, 0);
    deadlock_release(&deadlocks);
}

static void
a_chain_is_none(void **state)
{
    (void)state;
    find(LIST(1, 2, 3, NONE), 4, 0);
    deadlock_release(&deadlocks);
    find(LIST(NONE, 0, 1, 0), 4, 0);
    deadlock_release(&deadlocks);
}

static void
one_that_waits_for_itself(void **state)
{
    (void)state;
    find(LIST(NONE, 1, NONE), 3, 1);
    expect(0, LIST(1), LIST(NONE));
    deadlock_release(&deadlocks);
}

static void
circles_begin_with_their_smallest(void **state)
{
    (void)state;
    /* 2 -> 4 -> 3 -> 2, whichever is seen first. */
    find(LIST(NONE, NONE, 4, 2, 3), 5, 1);
    expect(0, LIST(2, 4, 3), LIST(NONE));
    deadlock_release(&deadlocks);
    /* 0 -> 2 <-> 1: it is met at 2. */
    find(LIST(2, 2, 1), 3, 1);
    expect(0, LIST(1, 2), LIST(0));
    deadlock_release(&deadlocks);
}

static void
who_waits_from_outside_is_told(void **state)
{
    (void)state;
    /* 0 -> 5 -> 1 <-> 2, 4 -> 2, 3 waits for no thread, 6 -> 3. */
    find(LIST(5, 2, 1, NONE, 2, 1, 3), 7, 1);
    expect(0, LIST(1, 2), LIST(0, 4, 5));
    deadlock_release(&deadlocks);
}

static void
two_circles_are_told_apart(void **state)
{
    (void)state;
    /* 0 -> 3 <-> 5, 1 <-> 4, 2 -> 0, 6 -> 1. */
    find(LIST(3, 4, 0, 5, 1, 3, 1), 7, 2);
    expect(0, LIST(1, 4), LIST(6));
    expect(1, LIST(3, 5), LIST(0, 2));
    deadlock_release(&deadlocks);
}

/* Whether COUNT steps from FROM come by TO. */
static int
leads_to(const uint32_t *owners, uint32_t count, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0, at = from; i < count; i++) {
        at = owners[at];
        if (at == to)
            return 1;
        if (at == DEADLOCK_NONE)
            return 0;
    }
    return 0;
}

/* How often THREAD is in a circle, and how often outside of one. */
static void
count_places(uint32_t thread, uint32_t *inside, uint32_t *outside)
{
    *inside = *outside = 0;
    for (uint32_t i = 0; i < deadlocks.count; i++) {
        const struct deadlock *at = &deadlocks.all[i];
        for (uint32_t j = 0; j < at->count; j++)
            *inside += deadlocks.threads[at->first + j] == thread;
        for (uint32_t j = 0; j < at->outside; j++)
            *outside += deadlocks.threads[at->first_outside + j] == thread;
    }
}

static void
a_slow_search_finds_the_same(void **state)
{
    enum { MOST = 12 };
    uint32_t owners[MOST];

    (void)state;
    srand(4711);
    for (int round = 0; round < 20000; round++) {
        uint32_t count = (uint32_t)rand() % MOST + 1;
        for (uint32_t i = 0; i < count; i++)
            owners[i] =
                rand() % 4 == 0 ? DEADLOCK_NONE : (uint32_t)rand() % count;
        assert_int_equal(deadlock_find(&deadlocks, owners, count), 0);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t inside, outside, is_stuck = 0;
            for (uint32_t j = 0; j < count; j++)
                is_stuck |= (uint32_t)(leads_to(owners, count, i, j) &&
                                       leads_to(owners, count, j, j));
            count_places(i, &inside, &outside);
            assert_int_equal(inside, (uint32_t)leads_to(owners, count, i, i));
            assert_int_equal(outside, is_stuck && inside == 0);
        }
        deadlock_release(&deadlocks);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits),
        cmocka_unit_test(a_chain_is_none),
        cmocka_unit_test(one_that_waits_for_itself),
        cmocka_unit_test(circles_begin_with_their_smallest),
        cmocka_unit_test(who_waits_from_outside_is_told),
        cmocka_unit_test(two_circles_are_told_apart),
        cmocka_unit_test(a_slow_search_finds_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
