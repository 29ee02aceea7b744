/* SPDX-License-Identifier: MIT */
/*
 * cfi.h -- runs the instructions of an FDE, and returns the rule of each of its
 * rows (DWARF 5, section 6.4; LSB, "Exception Frames"). It reads a function of
 * ten rows in about a microsecond. It knows the forms that a rule can have
 * (rules.h), and leaves the other rows to hard.h.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "fde.h"
#include "rules.h"

/* One row: RULE holds from START to END - 1. RULE_NONE: no rule can express
 * it. */
struct cfi_row {
    uint64_t start, end;
    struct rule rule;
};

/* Call VISIT with TO for each row of FDE that has a pc from FROM to UNTIL - 1,
 * in their order. VISIT reads no pages. Returns false if this code does not
 * understand the table up to there. Rows that were visited by then are right.
 * Context: sampler, in window. */
bool cfi_rows(struct pages *pages, const struct fde *fde, uint64_t from,
              uint64_t until,
              void (*visit)(void *to, const struct cfi_row *row), void *to);

#endif
