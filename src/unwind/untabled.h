/* SPDX-License-Identifier: MIT */
/*
 * untabled.h -- rules for code without an unwind table: Go's, assembly, and
 * code that runtimes generate. The code shows how much a function has on the
 * stack (epilogue.h). Otherwise a chain of frame pointers is tried.
 */
#ifndef UNWIND_UNTABLED_H
#define UNWIND_UNTABLED_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"

/* Find the rule for PC in a module, and put it for all pcs around for which it
 * holds. IS_RETURN: PC is the last byte before a return address. All that
 * belongs to PC ends before END. IS_GO: Go's linker made the module. The caller
 * puts the rule for PC itself. Returns the rule. Context: sampler, in
 * window. */
struct rule untabled_put(uint64_t pc, bool is_return, uint64_t end, bool is_go);

/* The same for PC in generated code, which may change. */
struct rule untabled_put_generated(uint64_t pc, bool is_return);

/* From now on RULE holds for PC, which is in code without a table: only a
 * search found the caller. IS_GENERATED: until the code changes. Context:
 * sampler. */
void untabled_decide(uint64_t pc, bool is_generated, struct rule rule);

/* Make no search for PC for a while: a search did not find its caller. Its rule
 * is the chain RULE. On another stack a search may succeed. Context:
 * sampler. */
void untabled_give_up(uint64_t pc, struct rule rule);

/* Forget rules for generated code that has changed since they were put, and
 * rules of untabled_give_up that have expired. Each call looks at some of them,
 * and at all within a second. NOW is CLOCK_MONOTONIC, in ns. Context: sampler.
 */
void untabled_settle(uint64_t now);

#endif
