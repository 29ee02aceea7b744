/* SPDX-License-Identifier: MIT */
/*
 * code_edge.h -- where a function surely begins, by the bytes of its code. A
 * symbol of assembly often has no size, and symbols after it may have been
 * stripped. So its name must not reach beyond such a place. Report side only.
 */
#ifndef SYMBOL_CODE_EDGE_H
#define SYMBOL_CODE_EDGE_H

#include <stdint.h>

#include "elf_view.h"

/* Returns the last address above LOW, ADDRESS at most, at which a function
 * begins in the code of VIEW. Such an address is aligned, and only fillers lie
 * between it and a return, or a jump to another function. Returns LOW if no
 * such address exists, or if the machine of VIEW is not known. All are in the
 * file's own numbering. */
uint64_t code_edge_last(const struct elf_view *view, uint64_t low,
                        uint64_t address);

#endif
