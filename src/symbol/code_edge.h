/* SPDX-License-Identifier: MIT */
/*
 * code_edge.h -- where a function surely begins, by the bytes of its code. A
 * symbol of assembly often has no size, and others may have been stripped
 * behind it. So its name must not reach beyond such a place. Report side only.
 */
#ifndef SYMBOL_CODE_EDGE_H
#define SYMBOL_CODE_EDGE_H

#include <stdint.h>

#include "elf_view.h"

/* The last address behind LOW, and not behind ADDRESS, at which a function
 * begins in the code of VIEW: it is aligned, and between it and a return is
 * nothing but what fills gaps. Returns LOW if there is none, or if the machine
 * of VIEW is not known. All are in the file's own numbering. */
uint64_t code_edge_last(const struct elf_view *view, uint64_t low,
                        uint64_t address);

#endif
