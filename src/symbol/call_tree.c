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
    tree->calls[tree->count++] = (struct inlined_call){*die, parent};
    if (die_add_ranges(die, &tree->ranges, *number, depth, MOST_RANGES) < 0)
        return (-1);
    return (0);
}

/* All calls below DIE, which is the function, a call or a block in it. */
static int
read_children(struct call_tree *tree, struct die_walk *walk, Dwarf_Die *die,
              uint32_t parent, unsigned depth)
{
    Dwarf_Die child;
    uint32_t number;

    if (depth == DEEPEST || !die_first(walk, die, &child))
        return (0);
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_inlined_subroutine:
            if (add_call(tree, &child, parent, depth, &number) ||
                read_children(tree, walk, &child, number, depth + 1))
                return (-1);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_with_stmt:
            if (read_children(tree, walk, &child, parent, depth + 1))
                return (-1);
            break;
        default: /* variables, types, and functions with code of their own */
            break;
        }
    } while (die_next(walk, &child));
    return (0);
}

int
call_tree_read(struct call_tree *tree, const Dwarf_Die *function)
{
    struct die_walk walk = {0};
    Dwarf_Die die = *function;

    if (read_children(tree, &walk, &die, CALL_NONE, 0))
        return (-1);
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
