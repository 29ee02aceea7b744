/* SPDX-License-Identifier: MIT */
/*
 * walk_maker.h -- a stack of some words, rules for code that is nowhere, and a
 * walk over them.
 */
#ifndef TESTS_UNIT_WALK_MAKER_H
#define TESTS_UNIT_WALK_MAKER_H

#include "unwind/rules.h"
#include "unwind/walk.h"

/* Code that is nowhere: rules alone know it. */
#define CODE 0x500000000000ull
#define LEAF (CODE + 0x100)
#define F1 (CODE + 0x1000)
#define F2 (CODE + 0x2000)
#define ROOT (CODE + 0xf000)
#define WORDS 64
#define FRAMES 256

/* The walk at hand, and what it sees and finds. */
extern uint64_t stack[WORDS];
extern struct frame frames[FRAMES];
extern uint8_t window[VIEW_WINDOW];
extern struct walk walk;
extern struct view view;

/* The address of WORD of the stack. */
uint64_t word_at(unsigned word);

/* The rule for the call in front of return address PC. */
void put_rule(uint64_t pc, struct rule rule);

/* cmocka's set-up of a test: an empty stack, and a rule for ROOT alone. */
int begin_walk(void **state);

/* The walk begins in the frame with these registers. */
void stand_at(uint64_t pc, uint64_t sp, uint64_t fp);

#define assert_frame(i, pc) assert_int_equal(frames[i].word, pc)
#define assert_return(i, pc) assert_frame(i, frame_return(pc).word)

/* The walk ends by CUT after DEPTH frames. */
void expect_cut(enum cut cut, uint32_t depth);

#endif
