/* SPDX-License-Identifier: MIT */
/*
 * nameless_test.c -- which frames have no names, and what share of the time
 * they are on the stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/nameless.h"

#include "profile_maker.h"

static void
expect_row(const struct nameless_row *row, uint32_t module, uint32_t places,
           uint64_t samples)
{
    assert_int_equal(row->module, module);
    assert_int_equal(row->places, places);
    assert_int_equal(row->values[VALUE_SAMPLES], samples);
}

/* A stack counts once for a file, however many of its frames it has; the same
 * place in two stacks is one; marks are no frames; nodes without samples are
 * not looked at. */
static void
test_rows(void **state)
{
    struct nameless nameless;
    struct profile *profile;

    (void)state;
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 1, 2, 0x100, 0);
    maker_add_node(3, 2, 2, 0x200, 0);
    maker_add_node(4, 3, 1, 0x10, 0);
    maker_add_node(5, 0, 2, 0x101, NODE_RETURN);
    maker_add_node(6, 1, 0, 0x7f0000000000, 0);
    maker_add_node(7, 1, 0, 0x7f0000000000, 0);
    maker_add_node(8, 1, 1, 0x900, 0);
    maker_add_node(9, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_sample(1, 4, 3, 0);
    maker_add_sample(1, 5, 4, 0);
    maker_add_sample(1, 6, 1, 0);
    maker_add_sample(2, 7, 1, 0);
    maker_add_sample(1, 1, 20, 0);
    maker_add_sample(1, 9, 30, 0);
    profile = maker_load(NULL);
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 2);
    expect_row(&nameless.rows[0], 2, 2, 7);
    expect_row(&nameless.rows[1], 0, 1, 2);
    nameless_release(&nameless);
    profile_free(profile);
}

static void
test_none(void **state)
{
    struct nameless nameless;
    struct profile *profile;

    (void)state;
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    profile = maker_load(NULL);
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 0);
    nameless_release(&nameless);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, maker_forget, maker_clean),
        cmocka_unit_test_setup_teardown(test_none, maker_forget, maker_clean),
    };

    return (cmocka_run_group_tests(tests, maker_begin, maker_end));
}
