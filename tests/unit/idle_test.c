/* SPDX-License-Identifier: MIT */
/*
 * idle_test.c -- which threads only wait for work, and that one row of a table
 * and one branch of a tree stand for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "model/idle.h"
#include "view/table.h"
#include "view/tree.h"

#include "profile_maker.h"

/* Nodes: main, and in it two places and a function that works. */
enum { MAIN = 1, POOL, OTHER, WORK };

/* Thread 1 works; thread 2 is what a test is about. */
static void
begin(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "pool", NULL);
    maker_name(0x30, "other", NULL);
    maker_name(0x40, "work", NULL);
    maker_add_head();
    maker_add_node(MAIN, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(POOL, MAIN, 1, 0x20, 0);
    maker_add_node(OTHER, MAIN, 1, 0x30, 0);
    maker_add_node(WORK, MAIN, 1, 0x40, 0);
    maker_add_sample(1, WORK, 100, 0);
}

/* A wait of thread 2 at POOL, in call NUMBER, for TEXT. */
static void
add_wait(uint64_t ms, uint16_t number, uint32_t text)
{
    const struct record_sample record = {.time = 1000000,
                                         .duration = ms * 1000000,
                                         .wall = ms * 1000000,
                                         .count = (uint32_t)ms,
                                         .thread = 2,
                                         .node = POOL,
                                         .waits_on = text,
                                         .system_call = number,
                                         .state = STATE_WAITING,
                                         .trigger = TRIGGER_KEPT};
    maker_append(RECORD_SAMPLE, &record, sizeof(record), NULL, 0);
}

/* Whether thread 2 is idle; thread 1 never is. */
static bool
is_idle(void)
{
    struct profile *profile = maker_load(NULL);
    assert_int_equal(idle_find(profile), 0);
    bool result = profile->threads[1].is_idle;
    assert_false(profile->threads[0].is_idle);
    profile_free(profile);
    maker_forget(NULL);
    return result;
}

static void
one_that_waits_at_one_place_is(void **state)
{
    (void)state;
    begin();
    maker_add_sample(2, POOL, 990, SYS_futex);
    maker_add_sample(2, WORK, 9, 0);
    assert_true(is_idle());
}

static void
one_that_works_is_not(void **state)
{
    (void)state;
    begin();
    maker_add_sample(2, POOL, 990, SYS_futex);
    maker_add_sample(2, WORK, 11, 0);
    assert_false(is_idle());
}

/* The places are one in this order and in any other. */
static void
one_that_waits_at_two_places_is_not(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        maker_add_sample(2, POOL, 94, SYS_futex);
        maker_add_sample(2, OTHER, 6, SYS_futex);
    }
    assert_false(is_idle());
    begin();
    maker_add_sample(2, OTHER, 40, SYS_futex);
    maker_add_sample(2, POOL, 960, SYS_futex);
    assert_true(is_idle());
    /* Another call is another place. */
    begin();
    maker_add_sample(2, POOL, 900, SYS_futex);
    maker_add_sample(2, POOL, 100, SYS_epoll_pwait);
    assert_false(is_idle());
}

static void
one_that_waits_for_a_disk_is_not(void **state)
{
    (void)state;
    begin();
    maker_add_sample(2, POOL, 1000, SYS_fsync);
    assert_false(is_idle());
    begin();
    maker_add_text(1, "/var/lib/data");
    add_wait(1000, SYS_read, 1);
    assert_false(is_idle());
    begin();
    maker_add_text(1, "pipe:[7]");
    add_wait(1000, SYS_read, 1);
    assert_true(is_idle());
}

static void
one_that_waits_for_a_holder_is_not(void **state)
{
    (void)state;
    begin();
    maker_add_text(1, "mutex of burner (17)");
    add_wait(1000, SYS_futex, 1);
    assert_false(is_idle());
    /* That is a thread which joins another. */
    begin();
    maker_add_text(1, "end of burner (17)");
    add_wait(1000, SYS_futex, 1);
    assert_true(is_idle());
}

static void
one_that_waits_for_a_gpu_is_not(void **state)
{
    (void)state;
    maker_name(0x50, "cudaStreamSynchronize", NULL);
    begin();
    maker_add_node(5, MAIN, 1, 0x50, 0);
    maker_add_sample(2, 5, 1000, SYS_futex);
    assert_false(is_idle());
}

static void
all_threads_of_a_process_are_not(void **state)
{
    (void)state;
    maker_add_head();
    maker_add_node(MAIN, 0, 1, 0x10, 0);
    maker_add_sample(1, MAIN, 1000, SYS_futex);
    maker_add_sample(2, MAIN, 1000, SYS_futex);
    assert_false(is_idle());
}

static struct profile *
folded(void)
{
    uint64_t sums[VALUE_COUNT];
    begin();
    maker_add_sample(2, POOL, 990, SYS_futex);
    maker_add_sample(2, WORK, 9, 0);
    struct profile *profile = maker_load(NULL);
    assert_int_equal(idle_find(profile), 0);
    assert_int_equal(idle_sum(profile, sums), 1);
    assert_int_equal(sums[VALUE_WALL], 999000000);
    assert_int_equal(sums[VALUE_CPU], 9000000);
    assert_int_equal(idle_fold(profile), 0);
    return profile;
}

static const char name[] = "[1 idle thread; --idle shows it]";

/* Its work stays where it is; its waits are the last row, however large. */
static void
its_waits_are_the_last_row(void **state)
{
    (void)state;
    struct profile *profile = folded();
    struct table table;
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_WALL),
                     0);
    assert_int_equal(table.count, 3);
    assert_string_equal(table.rows[0].function, "work");
    assert_int_equal(table.rows[0].flat[VALUE_WALL], 109000000);
    assert_string_equal(table.rows[1].function, "main");
    assert_int_equal(table.rows[1].cumulative[VALUE_WALL], 109000000);
    assert_string_equal(table.rows[2].function, name);
    assert_string_equal(table.rows[2].module, "");
    assert_int_equal(table.rows[2].flat[VALUE_WALL], 990000000);
    assert_true(table.rows[2].is_last);
    table_sort(&table, VALUE_WALL, TABLE_CUMULATIVE);
    assert_true(table.rows[2].is_last);
    table_release(&table);
    assert_int_equal(table_build(&table, profile, TABLE_THREAD, NULL,
                                 VALUE_WALL),
                     0);
    assert_int_equal(table.count, 2);
    assert_string_equal(table.rows[1].function, name);
    assert_int_equal(table.rows[1].flat[VALUE_WALL], 999000000);
    assert_true(table.rows[1].is_last && table.rows[1].is_idle);
    table_release(&table);
    maker_expect_sums(profile);
    profile_free(profile);
}

static void
its_waits_are_the_last_branch(void **state)
{
    (void)state;
    struct profile *profile = folded();
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    struct branches branches;
    assert_non_null(tree);
    assert_int_equal(tree_branches(&branches, tree, VALUE_WALL, 0, 0), 0);
    assert_int_equal(branches.count, 4);
    assert_string_equal(tree_name(tree, tree->nodes[branches.all[1].node].name),
                        "main");
    assert_string_equal(tree_name(tree, tree->nodes[branches.all[3].node].name),
                        name);
    assert_int_equal(branches.all[3].total[VALUE_WALL], 990000000);
    assert_true(branches.all[3].is_last);
    tree_release_branches(&branches);
    tree_free(tree);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(one_that_waits_at_one_place_is),
        UNIT(one_that_works_is_not),
        UNIT(one_that_waits_at_two_places_is_not),
        UNIT(one_that_waits_for_a_disk_is_not),
        UNIT(one_that_waits_for_a_holder_is_not),
        UNIT(one_that_waits_for_a_gpu_is_not),
        UNIT(all_threads_of_a_process_are_not),
        UNIT(its_waits_are_the_last_row),
        UNIT(its_waits_are_the_last_branch),
    };
    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
