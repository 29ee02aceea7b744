/* SPDX-License-Identifier: MIT */
/*
 * call_tree.h -- the calls that the compiler inlined into one function.
 */
#ifndef SYMBOL_CALL_TREE_H
#define SYMBOL_CALL_TREE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "range_index.h"
#include "scan.h"

struct inlined_call {
    void *entry;     /* the address of its DW_TAG_inlined_subroutine */
    uint32_t parent; /* the call it is inlined into, CALL_NONE: the function */
    bool is_read; /* the following, which the reader of the unit keeps here */
    unsigned line, start_line; /* where it is called from; of what is called */
    const char *name, *file, *directory;
};
#define CALL_NONE UINT32_MAX

/* All zero is an empty tree. */
struct call_tree {
    struct range_index ranges; /* values: places in CALLS */
    struct inlined_call *calls;
    size_t count, capacity;
};

/* Collect the calls inlined into FUNCTION, which is in UNIT. Returns 0, or -1
 * with errno set. */
int call_tree_read(struct call_tree *tree, const struct scan_unit *unit,
                   const Dwarf_Die *function);

/* The innermost call whose code covers ADDRESS, or CALL_NONE. Its callers
 * follow by PARENT. */
uint32_t call_tree_find(const struct call_tree *tree, uint64_t address);

void call_tree_free(struct call_tree *tree);

#endif
