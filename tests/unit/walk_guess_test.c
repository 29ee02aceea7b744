/* SPDX-License-Identifier: MIT */
/*
 * walk_guess_test.c -- walks through code without a table: by chains and by
 * guesses, of which some lead nowhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "unwind/resume.h"
#include "walk_maker.h"

/* A chain that leads nowhere, or to no code, is lost where it was followed
 * last; but not if nothing else is known to help. */
static void
a_chain_that_leads_nowhere_is_lost(void **state)
{
    (void)state;
    rules_put(LEAF, rule_chain(0));
    stand_at(LEAF, word_at(6), word_at(2));
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    assert_int_equal(walk.cut, CUT_NO_RULE);
    stack[8] = word_at(20);
    stack[9] = F1;
    put_rule(F1, rule_make(RULE_NOWHERE));
    stand_at(LEAF, word_at(6), word_at(8));
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    assert_int_equal(walk.cut, CUT_NOT_CODE);
    assert_int_equal(walk.depth, 1);
    assert_int_equal(walk.regs.pc, LEAF);
    assert_int_equal(walk.regs.sp, word_at(6));
    rules_put(LEAF, rule_chain(RULE_CHAIN_LAST));
    stand_at(LEAF, word_at(6), word_at(8));
    expect_cut(CUT_NOT_CODE, 1);
}

/* Go's chain ends at 0, and may go to a stack that lies lower, but not for
 * ever. */
static void
a_chain_may_end_at_0(void **state)
{
    (void)state;
    rules_put(LEAF, rule_chain(RULE_CHAIN_ROOTED));
    put_rule(F1, rule_chain(RULE_CHAIN_ROOTED));
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    stack[20] = word_at(4);
    stack[21] = F1;
    stack[4] = 0;
    stack[5] = F1;
    stand_at(LEAF, word_at(16), word_at(20));
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 3);
    stack[4] = word_at(20);
    stand_at(LEAF, word_at(16), word_at(20));
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
}

static void
a_caller_is_guessed(void **state)
{
    (void)state;
    rules_put(LEAF, rule_guess(24, 0));
    stack[8] = ROOT;
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 3);
    assert_frame(1, frame_guessed().word);
    assert_return(2, ROOT);
    rules_put(LEAF, rule_guess(24, -16));
    stack[7] = word_at(11);
    put_rule(F1, rule_frame(RULE_CFA_FP, 16, RULE_FP_SAME, 0));
    stack[8] = F1;
    stack[12] = ROOT;
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 4);
    stack[8] = 0;
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    stack[8] = F1;
    put_rule(F1, rule_make(RULE_NOWHERE));
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    assert_int_equal(walk.depth, 1);
    assert_int_equal(walk.regs.sp, word_at(6));
}

/* After a guess a 0 shows that it was wrong; where a chain has one in place of
 * a return address, it was none. */
static void
a_0_behind_a_guess_is_no_root(void **state)
{
    struct regs caller = {.pc = F1, .sp = word_at(9)};

    (void)state;
    /* There a walk needs the frame record after a guess. */
    if (ARCH_HAS_LINK)
        skip();
    rules_put(LEAF, rule_guess(24, 0));
    put_rule(F1, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    put_rule(F2, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    stack[8] = F1;
    stack[10] = F2;
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    assert_int_equal(walk.cut, CUT_NOT_CODE);
    assert_int_equal(walk.depth, 1);
    assert_int_equal(walk.regs.sp, word_at(6));
    /* The next guess is as wrong, and it is not gone back to a second time. */
    assert_int_equal(walk_guess_to(&walk, &caller), WALK_ON);
    expect_cut(CUT_NOT_CODE, 4);
    put_rule(F2, rule_make(RULE_NOWHERE));
    put_rule(F1, rule_make(RULE_NOWHERE));
    stand_at(LEAF, word_at(6), 0);
    assert_int_equal(walk_guess_to(&walk, &caller), WALK_ON);
    expect_cut(CUT_NOT_CODE, 1);
    rules_put(LEAF, rule_chain(0));
    stack[20] = word_at(22);
    stand_at(LEAF, word_at(6), word_at(20));
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    assert_int_equal(walk.depth, 1);
}

/* A copy of one stack does not hold where Go's chain goes on. So it shows
 * nothing that is to be believed of later stacks. */
static void
a_copy_of_one_stack_teaches_nothing_of_another(void **state)
{
    static uint64_t other[2];
    struct resume finish = {.clock = clock_now, .until = UINT64_MAX};

    (void)state;
    view_begin_copy(&view, word_at(0), sizeof(stack), (uint8_t *)stack);
    rules_put(LEAF, rule_chain(RULE_CHAIN_ROOTED));
    stand_at(LEAF, word_at(16), (uint64_t)other);
    assert_int_equal(resume_run(&finish, &walk, &view), WALK_CUT);
    assert_int_equal(walk.cut, CUT_BAD_READ);
    assert_int_equal(rules_find(LEAF).word, rule_chain(RULE_CHAIN_ROOTED).word);
    /* Where there is no memory, the chain leads nowhere. */
    stand_at(LEAF, word_at(16), 8);
    assert_int_equal(resume_run(&finish, &walk, &view), WALK_CUT);
    assert_true(rule_chain_is(rules_find(LEAF), RULE_CHAIN_LAST));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_chain_that_leads_nowhere_is_lost, begin_walk),
        cmocka_unit_test_setup(a_chain_may_end_at_0, begin_walk),
        cmocka_unit_test_setup(a_caller_is_guessed, begin_walk),
        cmocka_unit_test_setup(a_0_behind_a_guess_is_no_root, begin_walk),
        cmocka_unit_test_setup(a_copy_of_one_stack_teaches_nothing_of_another,
                               begin_walk)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
