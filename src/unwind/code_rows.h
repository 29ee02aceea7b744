/* SPDX-License-Identifier: MIT */
/*
 * code_rows.h -- rules for code of modules without an unwind table. Walks find
 * that they need them. Then the function is searched and followed
 * (code_flow.h) while no thread waits, and its rules are kept.
 */
#ifndef UNWIND_CODE_ROWS_H
#define UNWIND_CODE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi.h"

struct pages;

/* Reserve memory, or forget what is known. Returns 0, or -1 if memory is short.
 * Context: sampler. */
int code_rows_begin(void);

/* The row of PC; its rule is RULE_NONE if none is known. Context: sampler, in
 * window. */
struct cfi_row code_rows_find(uint64_t pc);

/* Where the function of PC begins and ends, as far as it was read. Returns
 * false if it has no row. Context: sampler, in window. */
bool code_rows_function(uint64_t pc, uint64_t *start, uint64_t *end);

/* A walk needs the rule for PC, which is in a module without an FDE for it.
 * Context: sampler, in window. */
void code_rows_want(uint64_t pc);

/* Read one of the functions that walks need, and let its rules hold, if
 * that was not done for a short while. Context: sampler. */
void code_rows_ahead(struct pages *pages);

/* Whether a call may lead to code without a table. */
enum code_way {
    CODE_WAY_NONE,     /* it calls another function */
    CODE_WAY_POSSIBLE, /* it calls through a pointer */
    CODE_WAY_SURE,     /* it calls the function, or one that jumps to it */
};

/* Whether the call in front of RETURN_ADDRESS may lead to PC, which is in code
 * of a module without an FDE. No end of a function lies between the function
 * that it calls and PC. Takes up to 200 us. Context: sampler, in window. */
enum code_way code_rows_way(struct pages *pages, uint64_t return_address,
                            uint64_t pc);

/* Forget what is known of the code from START to END - 1. Context: sampler. */
void code_rows_forget(uint64_t start, uint64_t end);

#endif
