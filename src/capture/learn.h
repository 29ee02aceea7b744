/* SPDX-License-Identifier: MIT */
/*
 * learn.h -- asks libunwind how a frame is undone. The sampler thread alone;
 * libunwind is a private copy, so that its locks are never held by a thread
 * that is suspended, and reads only through pages and views, so that it never
 * faults.
 */
#ifndef CAPTURE_LEARN_H
#define CAPTURE_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ucontext.h>

#include "base/arch.h"
#include "fde.h"
#include "rules.h"
#include "view.h"

/* Make the address spaces and warm libunwind up: all that it allocates, it
 * allocates here or by mmap. Returns 0, or -1 if memory is short. */
int learn_begin(void);

/* Modules have changed: what was read of their tables is stale. */
void learn_forget_pages(void);

/*
 * Find the rule for PC and put it into the table, for PC and for the row of the
 * unwind table around it. IS_RETURN: PC is the last byte before a return
 * address. Returns the rule; its kind is never RULE_NONE. Context: sampler, in
 * window. Locks: libunwind's own, which nobody else has.
 */
struct rule learn_rule(uint64_t pc, bool is_return);

/* Registers of a frame, not all of which need be known. */
struct learn_origin {
    gregset_t registers;
    uint32_t known; /* bit 1 << REG_RIP and so on */
};
#define LEARN_ALL_KNOWN UINT32_MAX

/*
 * Walk DEPTH frames by libunwind from ORIGIN, then undo one more: how a frame
 * without a simple rule is passed, for which the callee-saved registers of its
 * callees are needed. EXPECTED_PC is where the frame at DEPTH stands, *CALLER
 * its caller's registers, *IS_ROOT true if it has none. Returns 0, or -1 if
 * libunwind cannot, or a register is needed that is not known; an unknown rbp
 * that the frame leaves alone is REGS_FP_UNKNOWN in the caller. Context:
 * sampler, in window, the thread parked.
 */
int learn_step(const struct learn_origin *origin, uint32_t depth,
               uint64_t expected_pc, struct view *view, struct regs *caller,
               bool *is_root);

/*
 * Whether PC is on a system call that stands where the unwind table of a
 * function ends, or right behind it; *LAST becomes the last pc in the table
 * then. glibc's clone and clone3 are so, because that call returns twice. Their
 * rule is RULE_HARD. Context: sampler, in window.
 */
bool learn_is_behind_table(uint64_t pc, uint64_t *last);

/* The function around PC, by the unwind table of its module. False if it has
 * none. Context: sampler, in window. */
bool learn_function(uint64_t pc, struct fde *function);

/* Copy LENGTH bytes of a module's code, which does not change while the module
 * is there. False if it cannot be read. Context: sampler, in window. */
bool learn_read_code(uint64_t address, void *to, size_t length);

#endif
