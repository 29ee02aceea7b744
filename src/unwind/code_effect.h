/* SPDX-License-Identifier: MIT */
/*
 * code_effect.h -- what one instruction does to what code_flow.c knows of a
 * frame: to sp, to registers that hold a value of the caller's or an address in
 * the frame, and to the words in which they are saved.
 */
#ifndef UNWIND_CODE_EFFECT_H
#define UNWIND_CODE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_state.h"

enum code_step {
    CODE_ON,
    CODE_CALL,   /* on, if what is called returns */
    CODE_BRANCH, /* to the target, or on */
    CODE_JUMP,   /* to the target */
    CODE_SWITCH, /* to an address that is computed */
    CODE_LEAVE,  /* to one in a word that it names: another function's */
    CODE_RETURN,
    CODE_END,  /* the program ends */
    CODE_LOST, /* not understood */
};

/* Set STATE to what is known at a function's entry. */
void code_effect_enter(struct code_state *state);

/* Whether sp, and the return address if a register has that, are in STATE what
 * they were at the entry. */
bool code_effect_has_no_frame(const struct code_state *state);

/* Whether STATE is what a caller expects at a return: also the callee-saved
 * registers. */
bool code_effect_may_return(const struct code_state *state);

/* Let the instruction at CODE, of which LEFT bytes are there, change STATE.
 * *LENGTH becomes its length, and *TARGET where it goes, relative to its start.
 * Context: any thread. */
enum code_step code_effect_step(struct code_state *state, const uint8_t *code,
                                size_t left, size_t *length, int64_t *target);

/* Whether what is at CODE, of which LEFT bytes are there, fills a gap between
 * functions. *LENGTH becomes its length. Context: any thread. */
bool code_effect_is_padding(const uint8_t *code, size_t left, size_t *length);

#endif
