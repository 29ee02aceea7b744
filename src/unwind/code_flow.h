/* SPDX-License-Identifier: MIT */
/*
 * code_flow.h -- the rules of a function that has no unwind table, from its
 * code. The code is followed from the entry on every way. What is known there
 * of sp, of the caller's registers and of where they are saved is carried from
 * instruction to instruction. The rules count only if each return is reached
 * with sp and the callee-saved registers as they were at the entry: then they
 * are proved (System V ABI for x86-64, section 3.2; AAPCS64, section 6).
 */
#ifndef UNWIND_CODE_FLOW_H
#define UNWIND_CODE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

/* Limits of the bytes of code that are followed, and of the rows of one
 * function. */
#define CODE_FLOW_REACH (1u << 20)
#define CODE_FLOW_ROWS 2048u

/* RULE holds from START to END - 1, in bytes from the first one of the code. */
struct code_row {
    uint32_t start, end;
    struct rule rule;
};

/* A function, as far as it was followed. */
struct code_flow {
    uint32_t count; /* of the rows, in order; code that is not reached is in
                       none */
    struct code_row rows[CODE_FLOW_ROWS];
};

/* Reserve memory. Returns 0, or -1 if it is short. Context: sampler. */
int code_flow_begin(void);

/* Follow CODE of LENGTH bytes, CODE_FLOW_REACH at most, which lies at a
 * multiple of 16, as a function that begins at ENTRY. IS_CALLED: a call leads
 * to ENTRY. Then sp alone must be at each return what it was: assembly has
 * functions of its own that restore no registers. A jump out of CODE is one to
 * another function. Returns whether *FLOW has rules that are proved. Takes some
 * 20 ns for each instruction. Context: sampler. */
bool code_flow_read(const uint8_t *code, size_t length, size_t entry,
                    bool is_called, struct code_flow *flow);

/* The row that holds AT, among COUNT ROWS in order, or NULL. Context: any. */
const struct code_row *code_flow_row(const struct code_row *rows,
                                     uint32_t count, uint64_t at);

struct code_state;

/* What was known at AT when a function was followed last, or NULL. Context:
 * sampler. */
const struct code_state *code_flow_state(size_t at);

#endif
