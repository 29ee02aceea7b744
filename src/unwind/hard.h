/* SPDX-License-Identifier: MIT */
/*
 * hard.h -- undoes one frame on the real registers: for frames whose row of the
 * unwind table no rule can express, and for those on the way to them. A rule
 * keeps pc, sp and fp. Here all registers are followed, because a hard frame
 * may have its CFA in any of them.
 */
#ifndef UNWIND_HARD_H
#define UNWIND_HARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "fde.h"
#include "rules.h"
#include "view.h"

/* Registers of a frame; some may be unknown. */
struct hard_registers {
    struct arch_registers registers;
    uint64_t known; /* bit N: register number N */
};
#define HARD_ALL_KNOWN UINT64_MAX

enum hard_outcome {
    HARD_ON,     /* The registers are the caller's. */
    HARD_CAUGHT, /* The same; a signal has interrupted the caller. */
    HARD_ROOT,   /* The frame has no caller. */
    HARD_FAILED  /* It is not understood, or needs an unknown value. */
};

/* Reserve the memory for a row. Returns 0, or -1 if memory is short. Context:
 * sampler. */
int hard_begin(void);

/* Undo the frame of REGISTERS by the row of FDE that holds PC. Memory is read
 * from VIEW, and from modules by PAGES. Context: sampler, in window. */
enum hard_outcome hard_by_table(struct pages *pages, const struct fde *fde,
                                uint64_t pc, struct view *view,
                                struct hard_registers *registers);

/* Undo a frame without a table by RULE. Context: sampler, in window. */
enum hard_outcome hard_by_rule(struct rule rule, struct view *view,
                               struct hard_registers *registers);

#endif
