/* SPDX-License-Identifier: MIT */
/*
 * row_table.h -- the rows of whole pieces of code. A piece is a page of a
 * module's code. When a walk misses a rule in a piece, all of its rows are read
 * (cfi.h), and no later walk misses there. The other pieces of its area follow,
 * ahead of any miss, within a share of the time. So does the whole segment,
 * once a part of its areas is compiled.
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

/* Begin to fetch into the caches what row_table_find of PC will need. Context:
 * any. */
void row_table_fetch(uint64_t pc);

/* The two steps that follow (rules_fetch_more, rules_fetch_rest). Context: any.
 */
void row_table_fetch_entry(uint64_t pc);
void row_table_fetch_rule(uint64_t pc);

/* The rule for PC, or one of kind RULE_NONE. Context: any. */
struct rule row_table_find(uint64_t pc);

/* A walk has missed a rule for PC, which lies in MODULE: compile its piece.
 * Returns the rule, or one of kind RULE_NONE if the rows have none. Context:
 * sampler, in window. */
struct rule row_table_learn(struct pages *pages, const struct module *module,
                            uint64_t pc);

/* Compile the areas and segments in which walks have missed rules, within a
 * share of the time. Context: sampler. */
void row_table_ahead(struct pages *pages);

/* Forget the rows of START to END - 1. Context: sampler. */
void row_table_forget(uint64_t start, uint64_t end);

#endif
