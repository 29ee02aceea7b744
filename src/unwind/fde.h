/* SPDX-License-Identifier: MIT */
/*
 * fde.h -- finds the FDE of a pc: the description of a function in the unwind
 * table (LSB, ".eh_frame_hdr"). cfi.h reads what is in it.
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
 * no FDE does. Context: sampler, in window. */
bool fde_find(struct pages *pages, const struct module *module, uint64_t pc,
              struct fde *fde);

/* Call VISIT with TO for each FDE of MODULE that has code from START to END -
 * 1, in order. Context: sampler, in window. */
void fde_each(struct pages *pages, const struct module *module, uint64_t start,
              uint64_t end, void (*visit)(void *to, const struct fde *fde),
              void *to);

/* The start of the stretch around PC that no FDE of MODULE covers: after the
 * last function before it, or the start of MODULE. Context: sampler, in
 * window. */
uint64_t fde_gap_start(struct pages *pages, const struct module *module,
                       uint64_t pc);

/* The end of the stretch around PC that no FDE of MODULE covers: at the next
 * function with an FDE, or the end of MODULE. Context: sampler, in window. */
uint64_t fde_gap_end(struct pages *pages, const struct module *module,
                     uint64_t pc);

#endif
