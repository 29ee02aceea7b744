/* SPDX-License-Identifier: MIT */
/* walk_maker.c -- see walk_maker.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "walk_maker.h"

uint64_t stack[WORDS] __attribute__((aligned(64)));
struct frame frames[FRAMES];
uint8_t window[VIEW_WINDOW];
struct walk walk;
struct view view;

uint64_t
word_at(unsigned word)
{
    return (uint64_t)&stack[word];
}

void
put_rule(uint64_t pc, struct rule rule)
{
    rules_put(pc - 1, rule);
}

int
begin_walk(void **state)
{
    (void)state;
    memset(stack, 0, sizeof(stack));
    memset(&walk, 0, sizeof(walk));
    walk.capacity = FRAMES;
    walk.frames = frames;
    view_begin(&view, word_at(0), word_at(WORDS), word_at(0), window);
    if (rules_begin() != 0)
        return -1;
    put_rule(ROOT, rule_make(RULE_ROOT));
    return 0;
}

void
stand_at(uint64_t pc, uint64_t sp, uint64_t fp)
{
    struct regs regs = {.pc = pc, .sp = sp, .fp = fp};

    walk_begin(&walk, &regs);
}

void
expect_cut(enum cut cut, uint32_t depth)
{
    assert_int_equal(walk_run(&walk, &view), WALK_CUT);
    assert_int_equal(walk.cut, cut);
    assert_int_equal(walk.depth, depth);
}
