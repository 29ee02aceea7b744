/* SPDX-License-Identifier: MIT */
/*
 * call_tree.h -- the calls that the compiler inlined into one function. Of a
 * call are only read those directly below it, and when an address first hits
 * it: of large functions most are never looked at.
 */
#ifndef SYMBOL_CALL_TREE_H
#define SYMBOL_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "range_index.h"
#include "scan.h"
#include "sections.h"

/* The function itself, or a call. */
struct inlined_call {
    const uint8_t *entry;      /* its DWARF */
    struct range_index ranges; /* of calls in it; values: their places */
    uint32_t parent; /* the call it is in, CALL_FUNCTION: the function */
    bool is_opened;  /* RANGES is filled in */
    bool is_read; /* the following, which the reader of the unit keeps here */
    unsigned line, start_line; /* where it is called from; of what is called */
    const char *name, *file, *directory;
};
#define CALL_FUNCTION 0

/* All zero is an empty tree. */
struct call_tree {
    const struct scan_unit *unit;
    const struct sections *sections;
    struct inlined_call *calls; /* the first is the function */
    size_t count, capacity;
    size_t left; /* bytes that are read before the rest is left out */
};

/* Begin the tree of the function at ENTRY in UNIT. SECTIONS: as in
 * code_range.h. Returns 0, or -1 with errno set. */
int call_tree_begin(struct call_tree *tree, const struct scan_unit *unit,
                    const struct sections *sections, const uint8_t *entry);

/* The innermost call whose code covers ADDRESS, or CALL_FUNCTION. Its callers
 * follow by PARENT. With short memory it may be an outer one. */
uint32_t call_tree_find(struct call_tree *tree, uint64_t address);

/* How much memory the tree takes, about. */
size_t call_tree_size(const struct call_tree *tree);

void call_tree_free(struct call_tree *tree);

#endif
