/* SPDX-License-Identifier: MIT */
/* cie.h -- reads a CIE, the common part of FDEs of an unwind table (LSB,
 * "Exception Frames"). */
#ifndef UNWIND_CIE_H
#define UNWIND_CIE_H

#include <stdbool.h>
#include <stdint.h>

struct pages;

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register; /* its number in the table */
    bool is_signal;           /* Its pc is no return address. */
    uint64_t instructions;    /* their address */
    uint32_t length;          /* of them, in bytes */
};

/* Read the CIE at ADDRESS. Returns false if it is not understood, for example
 * because its FDEs have pointers in a form that fde.c does not read. Context:
 * sampler, in window. */
bool cie_read(struct pages *pages, uint64_t address, struct cie *cie);

#endif
