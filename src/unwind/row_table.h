/* SPDX-License-Identifier: MIT */
/*
 * row_table.h -- the rows of whole pieces of code, compiled ahead. A piece is
 * 64 KiB of a module's code. When walks have missed rules in a piece some
 * times, all of its rows are read (cfi.h), and no later walk misses there.
 *
 * A piece is a sorted list of 4-byte entries: where a row begins in the piece,
 * and the number of its rule. The sampler is the only writer. Readers are
 * wait-free and run in signal handlers.
 */
#ifndef UNWIND_ROW_TABLE_H
#define UNWIND_ROW_TABLE_H

#include <stdint.h>

#include "rules.h"

struct module;
struct pages;

/* Forget all. The memory is reserved when a piece is compiled. Context:
 * sampler. */
void row_table_begin(void);

/* The rule for PC, or one of kind RULE_NONE. Context: any. */
struct rule row_table_find(uint64_t pc);

/* A walk has missed a rule for PC, which lies in a module. Context: sampler, in
 * window. */
void row_table_miss(uint64_t pc);

/* Compile the pieces in which walks have missed rules most, for some 100 us at
 * most. Context: sampler. */
void row_table_compile(struct pages *pages);

/* Forget the rows of START to END - 1. Context: sampler. */
void row_table_forget(uint64_t start, uint64_t end);

#endif
