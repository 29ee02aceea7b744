/* SPDX-License-Identifier: MIT */
/*
 * call_tree.c -- one walk over a function's entries, so that each address in
 * it costs a binary search afterwards. Report side.
 *
 * An inlined call covers part of its parent's code and often starts where the
 * parent does: the rank of a range is the depth, so the innermost is nearest.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "call_tree.h"
#include "die.h"

/* Real code stays far below both; damaged DWARF may not. */
#define DEEPEST 256
#define MOST_RANGES 4096

/* Adds the call DIE; *NUMBER is its place. */
static int
add_call(struct call_tree *tree, Dwarf_Die *die, uint32_t parent,
         unsigned depth, uint32_t *number)
{
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? tree->capacity * 2 : 16;
        struct inlined_call *calls =
            reallocarray(tree->calls, capacity, sizeof(*calls));
        if (!calls)
            return (-1);
        tree->calls = calls;
        tree->capacity = capacity;
    }
    *number = (uint32_t)tree->count;
    tree->calls[tree->count++] =
        (struct inlined_call){.entry = die->addr, .parent = parent};
    if (die_add_ranges(die, &tree->ranges, *number, depth, MOST_RANGES) < 0)
        return (-1);
    return (0);
}

/* Whether calls inlined into the function itself may lie below. */
static bool
is_block(int tag)
{
    return (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
            tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt);
}

int
call_tree_read(struct call_tree *tree, const struct scan_unit *unit,
               const Dwarf_Die *function)
{
    struct scan scan = scan_begin(unit, function);
    struct scan_entry entry;
    uint32_t around[DEEPEST] = {CALL_NONE}; /* by depth: the call it is in */

    scan_next(&scan, &entry); /* the function */
    while (scan_next(&scan, &entry)) {
        unsigned depth = entry.depth;
        if (depth < DEEPEST)
            around[depth] = around[depth - 1];
        if (depth < DEEPEST && entry.tag == DW_TAG_inlined_subroutine) {
            Dwarf_Die die = scan_die(&scan, &entry);
            if (add_call(tree, &die, around[depth - 1], depth, &around[depth]))
                return (-1);
        } else if (depth == DEEPEST || !is_block(entry.tag)) {
            /* Variables, types, and functions with code of their own. */
            scan_skip(&scan, &entry);
        }
    }
    range_index_seal(&tree->ranges);
    return (0);
}

uint32_t
call_tree_find(const struct call_tree *tree, uint64_t address)
{
    const struct range *range = range_index_find(&tree->ranges, address, NULL);

    return (range ? range->value : CALL_NONE);
}

void
call_tree_free(struct call_tree *tree)
{
    range_index_free(&tree->ranges);
    free(tree->calls);
    *tree = (struct call_tree){0};
}
