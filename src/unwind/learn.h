/* SPDX-License-Identifier: MIT */
/*
 * learn.h -- finds out how a frame is undone. Only the sampler thread calls it.
 * It reads only through pages and views, so it never faults.
 */
#ifndef UNWIND_LEARN_H
#define UNWIND_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "fde.h"
#include "hard.h"
#include "rules.h"
#include "view.h"

/* Reserve all memory that learning needs. Returns 0, or -1 if that is short.
 * Context: sampler. */
int learn_begin(void);

/* Compile rows of code near that in which walks have missed rules, for a short
 * while (row_table.h). Context: sampler. */
void learn_ahead(void);

/* Forget what was read of unwind tables, because modules have changed. Context:
 * sampler. */
void learn_forget_pages(void);

/*
 * Find the rule for PC. Put it into the table, for PC and for the row of the
 * unwind table around it. IS_RETURN: PC is the last byte before a return
 * address. Returns the rule; its kind is never RULE_NONE. It takes no lock.
 * Context: sampler, in window.
 */
struct rule learn_rule(uint64_t pc, bool is_return);

/*
 * Walk DEPTH frames from ORIGIN on all registers, then undo one more. This
 * passes a frame without a simple rule, for which the callee-saved registers of
 * its callees are needed. EXPECTED_PC is the pc of the frame at DEPTH. *CALLER
 * becomes its caller's registers. *IS_ROOT becomes true if the frame has no
 * caller.
 *
 * Returns 0. Returns -1 if a frame cannot be undone, or needs a register that
 * is not known. An unknown fp that the frame leaves alone is REGS_FP_UNKNOWN in
 * *CALLER. The thread is parked. Context: sampler, in window.
 */
int learn_step(const struct hard_registers *origin, uint32_t depth,
               uint64_t expected_pc, struct view *view, struct regs *caller,
               bool *is_root);

/*
 * Whether PC is on a system call where the unwind table of a function ends, or
 * right after that call. If so, *LAST becomes the last pc in the table.
 * glibc's clone and clone3 are of this kind, because that call returns twice.
 * Their rule is RULE_HARD. Context: sampler, in window.
 */
bool learn_is_behind_table(uint64_t pc, uint64_t *last);

/* Find the function around PC, by the unwind table of its module. Returns false
 * if it has none. Context: sampler, in window. */
bool learn_function(uint64_t pc, struct fde *function);

#endif
