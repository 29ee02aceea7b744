/* SPDX-License-Identifier: MIT */
/*
 * synthetic.h -- a frame for any pc, to compare a learned rule with libunwind's
 * own answer: random registers and a stack of random words, which all are
 * addresses of that stack again. One step by the rule and one by libunwind must
 * find the same caller.
 */
#ifndef TESTS_UNIT_SYNTHETIC_H
#define TESTS_UNIT_SYNTHETIC_H

#include "unwind/learn.h"
#include "unwind/walk.h"

#include "unwinder.h"

#define FRAME_STACK_SIZE (8u << 20)

/* The stack, as large as FRAME_STACK_SIZE, and a view's window into it. */
extern uint8_t *stack;
extern uint8_t window[VIEW_WINDOW];

/* libunwind, and the registers that both walks begin with. */
extern struct unwinder unwinder;

/* How many rules of each kind check_pc has met. */
extern unsigned kinds[RULE_NOWHERE + 1];

/* The same numbers in each run. */
uint64_t random_number(void);

/* Fill the registers of a frame at PC with addresses of the stack. The stack
 * pointer lies below all else, so that every caller lies above. */
void random_registers(uint64_t pc);

/* cmocka's set-up of a group: the stack, the modules and both unwinders. */
int begin_frames(void **state);

/* What libunwind says of the caller; RESULT as unw_step's. */
struct answer {
    int result;
    struct regs caller;
    uint64_t slot; /* address of the return address */
};

/* Step once, from the registers. */
struct answer ask_libunwind(void);

/* A frame without a rule: learn_step undoes it on the real registers. */
void check_step(uint64_t pc, struct view *view, const struct answer *answer);

/* The rule for PC says what libunwind says. Returns its kind. */
enum rule_kind check_pc(uint64_t pc);

#endif
