/* SPDX-License-Identifier: MIT */
/*
 * untabled.h -- rules for code that has no unwind table: Go's, assembly, and
 * what runtimes generate. The code says how much a function has on the stack
 * (epilogue.h). Else a chain of frame pointers is tried.
 */
#ifndef UNWIND_UNTABLED_H
#define UNWIND_UNTABLED_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"

/* Find the rule for PC in a module, and put it for all pcs around that it holds
 * for. IS_RETURN: PC is the last byte before a return address. What belongs to
 * PC ends before END. IS_GO: Go's linker made the module. The caller puts the
 * rule for PC itself. Returns the rule. Context: sampler, in window. */
struct rule untabled_put(uint64_t pc, bool is_return, uint64_t end, bool is_go);

/* The same for PC in generated code, which may change. */
struct rule untabled_put_generated(uint64_t pc, bool is_return);

/* Let RULE hold for PC from now on: PC is in code without a table, and only a
 * search found the caller. IS_GENERATED: until the code changes. Context:
 * sampler. */
void untabled_decide(uint64_t pc, bool is_generated, struct rule rule);

/* Let no search be made for PC for a while: no search found its caller. Its
 * rule is the chain RULE. On another stack a search may succeed. Context:
 * sampler. */
void untabled_give_up(uint64_t pc, struct rule rule);

/* Forget rules for generated code that has changed since they were put, and
 * rules of untabled_give_up that have expired. Each call looks at some of them,
 * and at all within a second. NOW is CLOCK_MONOTONIC, in ns. Context: sampler.
 */
void untabled_settle(uint64_t now);

#endif
