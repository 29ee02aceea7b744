/* SPDX-License-Identifier: MIT */
/*
 * unwinder.h -- libunwind by itself, as the answer to compare with: it walks
 * from any registers, finds tables by the module map and reads memory by system
 * calls. Shares nothing with unwind/learn.c. Usable in a signal handler, by
 * one thread at a time.
 */
#ifndef TESTS_UNIT_UNWINDER_H
#define TESTS_UNIT_UNWINDER_H

#include <libunwind.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/arch.h"
#include "unwind/pages.h"

struct unwinder {
    uint64_t registers[ARCH_REGISTERS]; /* by number of DWARF */
    bool has_table; /* the last frame that was looked up has an FDE */
    unw_addr_space_t space;
    unw_cursor_t cursor;
    struct pages pages; /* memory as it was when the walk began, or later */
};

/* libunwind's callback: the table entry of IP. */
int unwinder_find(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
                  int need, void *arg);

/* Make the address space. Returns 0, or -1. */
int unwinder_begin(struct unwinder *unwinder);

/* Take the registers that a signal interrupted. */
void unwinder_context(struct unwinder *unwinder, const ucontext_t *context);

/* Stand in the frame that the registers are of. Returns 0, or -1. */
int unwinder_start(struct unwinder *unwinder);

/* A register of the frame where the cursor stands; 0 if it is not known. */
uint64_t unwinder_get(struct unwinder *unwinder, int number);

#endif
