/* SPDX-License-Identifier: MIT */
/* wait_memo_test.c -- which wait is the same as one before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/waiting.h"
#include "journal/stack_tree.h"
#include "sampling/wait_memo.h"

#define THREAD 3u
#define ENTRY 0x1000u
#define RETURN_1 0x2000u
#define RETURN_2 0x3000u
#define RETURN_3 0x4000u

/* The thread's stack. Its note is at NOTE, and a look finds it below. */
#define NOTE 8u
static uint64_t stack[600] __attribute__((aligned(16)));
static struct regs noted;
static uint32_t generation, stamp;

bool
waiting_read(uint32_t index, struct regs *at)
{
    (void)index;
    *at = noted;
    return noted.pc != 0;
}

uint32_t
journal_generation(void)
{
    return generation;
}

uint32_t
stack_tree_stamp(void)
{
    return stamp;
}

static struct frame frames[] = {{0x100},
                                {0x200 | FRAME_RETURN_BIT},
                                {RETURN_1 | FRAME_RETURN_BIT},
                                {RETURN_2 | FRAME_RETURN_BIT},
                                {RETURN_3 | FRAME_RETURN_BIT}};
static const struct journal_place there = {.node = 7,
                                           .depth = 5,
                                           .label = 2,
                                           .set = 9};

static int
begin(void **state)
{
    (void)state;
    struct wait_memo memo;
    struct walk walk = {.frames = frames, .depth = 5, .capacity = 5};
    const struct regs at = {.pc = 0x100, .sp = (uint64_t)stack};
    generation = 1;
    noted = (struct regs){.pc = ENTRY, .sp = (uint64_t)(stack + NOTE)};
    arch_set_link(&noted, RETURN_1);
    memset(stack, 0, sizeof(stack));
    stack[NOTE] = RETURN_1;
    stack[NOTE + 6] = RETURN_2;
    stack[NOTE + 9] = 0x5000;
    stack[NOTE + 30] = RETURN_3;
    wait_memo_begin();
    wait_memo_read(THREAD, &memo);
    wait_memo_put(THREAD, &memo, &at, &walk, &there);
    return 0;
}

/* Whether a wait of THREAD at PC is found. */
static bool
finds(uint32_t thread, uint64_t pc, uint32_t set)
{
    struct wait_memo memo;
    const struct regs at = {.pc = pc, .sp = (uint64_t)stack};
    struct journal_place place = {.label = there.label, .set = set};
    wait_memo_read(thread, &memo);
    bool is_found = wait_memo_find(thread, &memo, &at, &place);
    assert_true(!is_found || journal_is_same_place(&place, &there));
    return is_found;
}

static void
the_same_wait_is_found(void **state)
{
    (void)state;
    assert_true(finds(THREAD, 0x100, there.set));
    /* Other words of the stack may be others. */
    stack[NOTE + 9] = 0x6000;
    assert_true(finds(THREAD, 0x100, there.set));
}

static void
another_wait_is_not(void **state)
{
    (void)state;
    assert_false(finds(THREAD + 1, 0x100, there.set));
    assert_false(finds(THREAD, 0x104, there.set));
    assert_false(finds(THREAD, 0x100, there.set + 1));
    noted.pc++;
    assert_false(finds(THREAD, 0x100, there.set));
    noted.pc = 0;
    assert_false(finds(THREAD, 0x100, there.set));
    noted.pc = ENTRY;
    generation++;
    assert_false(finds(THREAD, 0x100, there.set));
    generation--;
    stamp++;
    assert_false(finds(THREAD, 0x100, there.set));
}

/* Each return address that the walk found must be there, at its place. */
static void
another_caller_is_not(void **state)
{
    (void)state;
    stack[NOTE + 30] = 0;
    assert_false(finds(THREAD, 0x100, there.set));
    stack[NOTE + 31] = RETURN_3;
    assert_false(finds(THREAD, 0x100, there.set));
}

/* A walk that was cut, one that is longer than the copy, and one with functions
 * of an interpreter leave nothing to find. */
static void
a_walk_that_is_not_whole_is_not_remembered(void **state)
{
    struct script script = {.count = 1};
    struct walk walks[] = {{.cut = CUT_NO_RULE},
                           {.depth = 6},
                           {.script = &script}};
    struct wait_memo memo;
    const struct regs at = {.pc = 0x100, .sp = (uint64_t)stack};

    for (unsigned i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        begin(state);
        walks[i].frames = frames;
        walks[i].depth = walks[i].depth != 0 ? walks[i].depth : 5;
        walks[i].capacity = 5;
        wait_memo_read(THREAD, &memo);
        wait_memo_put(THREAD, &memo, &at, &walks[i], &there);
        assert_false(finds(THREAD, 0x100, there.set));
    }
    begin(state);
    stack[NOTE + 30] = 0;
    struct walk walk = {.frames = frames, .depth = 5, .capacity = 5};
    wait_memo_read(THREAD, &memo);
    wait_memo_put(THREAD, &memo, &at, &walk, &there);
    stack[NOTE + 30] = RETURN_3;
    assert_false(finds(THREAD, 0x100, there.set));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_same_wait_is_found, begin),
        cmocka_unit_test_setup(another_wait_is_not, begin),
        cmocka_unit_test_setup(another_caller_is_not, begin),
        cmocka_unit_test_setup(a_walk_that_is_not_whole_is_not_remembered,
                               begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
