/* SPDX-License-Identifier: MIT */
/*
 * call_tree.h -- the calls that the compiler inlined into one function. Only
 * the calls directly below a call are read, when an address first hits it. In
 * large functions most calls are never looked at.
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
    const uint8_t *entry;      /* its entry in the DWARF */
    struct range_index ranges; /* calls in it; values: their indexes */
    uint32_t parent; /* the call it is in; CALL_FUNCTION: the function */
    bool is_opened;  /* RANGES is filled in */
    bool is_read;    /* the fields below, which the unit's reader fills in */
    unsigned line, start_line; /* of the call; of the called function */
    const char *name, *file, *directory;
};
#define CALL_FUNCTION 0

/* All zero is an empty tree. */
struct call_tree {
    const struct scan_unit *unit;
    const struct sections *sections;
    struct inlined_call *calls; /* the first is the function */
    size_t count;
    size_t left; /* bytes that may still be read; the rest is left out */
};

/* Begin the tree of the function at ENTRY in UNIT. SECTIONS is as in
 * die_add_entry. Returns 0, or -1 with errno set if memory is short. */
int call_tree_begin(struct call_tree *tree, const struct scan_unit *unit,
                    const struct sections *sections, const uint8_t *entry);

/* Returns the innermost call whose code covers ADDRESS, or CALL_FUNCTION.
 * PARENT leads from it to its callers. If memory is short, it may be an outer
 * call. */
uint32_t call_tree_find(struct call_tree *tree, uint64_t address);

/* About how much memory the tree takes, in bytes. */
size_t call_tree_size(const struct call_tree *tree);

void call_tree_free(struct call_tree *tree);

#endif
