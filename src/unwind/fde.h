/* SPDX-License-Identifier: MIT */
/*
 * fde.h -- where a row of the unwind table begins and ends. libunwind answers
 * for one pc. Its answer holds for the whole row, and only the table tells how
 * far the row reaches. So this code reads the advances of an FDE's
 * instructions, and nothing else (DWARF 5, section 6.4.2; LSB, .eh_frame_hdr).
 */
#ifndef UNWIND_FDE_H
#define UNWIND_FDE_H

#include <stdbool.h>
#include <stdint.h>

struct pages;
struct module;

struct fde {
    uint64_t address;    /* of the FDE in memory */
    uint64_t start, end; /* pcs of its function */
};

/* Find the FDE that covers PC, in the sorted table of MODULE. Returns false if
 * there is none. Context: sampler, in window. */
bool fde_find(struct pages *pages, const struct module *module, uint64_t pc,
              struct fde *fde);

/* Where the stretch around PC ends, which no FDE of MODULE covers: at the next
 * function with an FDE, or with MODULE. Context: sampler, in window. */
uint64_t fde_gap_end(struct pages *pages, const struct module *module,
                     uint64_t pc);

/* Find the row of FDE that holds PC: from *START to *END - 1. Returns false if
 * this code does not understand the table, or if a rule in it may depend on the
 * pc itself. Context: sampler, in window. */
bool fde_row(struct pages *pages, const struct fde *fde, uint64_t pc,
             uint64_t *start, uint64_t *end);

#endif
