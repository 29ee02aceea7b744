/* SPDX-License-Identifier: MIT */
/*
 * code_kept.h -- the registers that a called function does not write. Assembly
 * knows its own helpers. It keeps values over a call in registers that the ABI
 * lets every function change.
 */
#ifndef UNWIND_CODE_KEPT_H
#define UNWIND_CODE_KEPT_H

#include <stddef.h>
#include <stdint.h>

/* Limit of the instructions that are read for one function. */
#define CODE_KEPT_STEPS 4096u

/* The registers that the function at ENTRY in CODE of LENGTH bytes never
 * writes, nor anything that it calls; a bit for each, by CODE_SP's numbers. All
 * of its ways are followed to their ends. 0: none returns, or one leads out of
 * CODE, or to a computed address, or is not understood. *STEPS grows by the
 * instructions that were read. Context: any. */
uint32_t code_kept_read(const uint8_t *code, size_t length, size_t entry,
                        uint32_t *steps);

#endif
