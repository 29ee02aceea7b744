/* SPDX-License-Identifier: MIT */
/*
 * fde.h -- where a row of the unwind table begins and ends. libunwind answers
 * for one pc; its answer holds for the whole row, and only the table knows how
 * far that reaches. This reads no more than that: the advances of an FDE's
 * instructions (DWARF 5, section 6.4.2; LSB, .eh_frame_hdr).
 */
#ifndef CAPTURE_FDE_H
#define CAPTURE_FDE_H

#include <stdbool.h>
#include <stdint.h>

struct pages;
struct module;

struct fde {
    uint64_t address;    /* of the FDE in memory */
    uint64_t start, end; /* pcs of its function */
};

/* The FDE that covers PC, by the sorted table of MODULE. False if there is
 * none. Context: sampler, in window. */
bool fde_find(struct pages *pages, const struct module *module, uint64_t pc,
              struct fde *fde);

/* The stretch around PC, which no FDE of MODULE covers, up to the functions
 * that have one: from *START to *END - 1. Context: sampler, in window. */
void fde_gap(struct pages *pages, const struct module *module, uint64_t pc,
             uint64_t *start, uint64_t *end);

/* The row of FDE that holds PC: from *START to *END - 1. False if the table is
 * written in a way that this does not follow, or a rule in it may depend on the
 * pc itself. Context: sampler, in window. */
bool fde_row(struct pages *pages, const struct fde *fde, uint64_t pc,
             uint64_t *start, uint64_t *end);

#endif
