/* SPDX-License-Identifier: MIT */
/*
 * call_tree.c -- reads a function's calls from the outside in, level by level.
 * Report side.
 *
 * An inlined call covers part of its parent's code. The addresses of blocks are
 * ignored, because compilers do not always describe them correctly.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "util/array.h"
#include "die.h"
#include "call_tree.h"

/* Deepest nesting of calls and blocks, and most ranges of one call. Real code
 * stays far below both; damaged DWARF may not. */
#define DEEPEST 256
#define MOST_RANGES 4096

static int
add_call(struct call_tree *tree, const uint8_t *entry, uint32_t parent)
{
    if (!ARRAY_GROW(tree->calls, tree->count))
        return -1;
    tree->calls[tree->count++] =
        (struct inlined_call){.entry = entry, .parent = parent};
    return 0;
}

/* Whether TAG is a block. Calls below it are inlined into the function itself.
 */
static bool
is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* Count SIZE bytes as read. False if the function cannot have that many.
 * Entries of damaged DWARF may overlap, and would be read again and again. */
static bool
may_read(struct call_tree *tree, size_t size)
{
    if (tree->left < size) {
        tree->left = 0;
        return false;
    }
    tree->left -= size;
    return true;
}

/* Like scan_skip. False if it had to read more than may_read allows. */
static bool
skip_entry(struct call_tree *tree, struct scan *scan,
           const struct scan_entry *entry)
{
    const uint8_t *from = scan->next, *end = tree->unit->end;
    scan_skip(scan, entry);
    if (entry->sibling != NULL || from == NULL)
        return true;
    return may_read(tree,
                    (size_t)((scan->next != NULL ? scan->next : end) - from));
}

/*
 * Read the calls directly in call NUMBER into RANGES.
 *
 * The calls inside them are read too where only reading can skip them. Some
 * compilers do not tell where an entry ends. In DWARF 2, which has no ranges, a
 * call may lie outside its caller. All go into one index, in which the
 * innermost call is the nearest: it starts last, or starts with its caller and
 * has a higher rank. Returns 0, or -1 with errno set.
 */
static int
read_calls(struct call_tree *tree, uint32_t number, struct range_index *ranges)
{
    uint32_t around[DEEPEST] = {number}; /* by depth: the call around it */
    Dwarf_Die die = tree->unit->top;
    struct scan scan;
    die.addr = (void *)(uintptr_t)tree->calls[number].entry;
    scan = scan_begin(tree->unit, &die);
    struct scan_entry entry;
    scan_next(&scan, &entry); /* the call itself */
    while (scan_next(&scan, &entry) && may_read(tree, 1)) {
        unsigned depth = entry.depth;
        bool is_call = entry.tag == DW_TAG_inlined_subroutine;
        if (depth >= DEEPEST || (!is_call && !is_block(entry.tag))) {
            /* Variables, types, and functions with code of their own. */
            if (!skip_entry(tree, &scan, &entry))
                break;
            continue;
        }
        around[depth] = around[depth - 1];
        if (!is_call)
            continue;
        if (add_call(tree, entry.start, around[depth - 1]) != 0)
            return -1;
        around[depth] = (uint32_t)tree->count - 1;
        if (entry.has_code &&
            die_add_entry(tree->sections, &scan, &entry, ranges, around[depth],
                          depth, MOST_RANGES) < 0)
            return -1;
        if (entry.has_code && entry.sibling != NULL && tree->unit->version > 2)
            scan_skip(&scan, &entry);
        else
            tree->calls[around[depth]].is_opened = true;
    }
    return 0;
}

static int
open_call(struct call_tree *tree, uint32_t number)
{
    struct range_index ranges = {0};
    int failed = read_calls(tree, number, &ranges);
    range_index_seal(&ranges);
    tree->calls[number].ranges = ranges;
    tree->calls[number].is_opened = true;
    return failed;
}

int
call_tree_begin(struct call_tree *tree, const struct scan_unit *unit,
                const struct sections *sections, const uint8_t *entry)
{
    tree->unit = unit;
    tree->left = unit->end != NULL ? (size_t)(unit->end - unit->start) : 0;
    tree->sections = sections;
    return add_call(tree, entry, CALL_FUNCTION);
}

uint32_t
call_tree_find(struct call_tree *tree, uint64_t address)
{
    uint32_t number = CALL_FUNCTION;
    if (tree->count == 0)
        return CALL_FUNCTION;
    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        if (!tree->calls[number].is_opened && open_call(tree, number) != 0)
            return number;
        const struct range *range =
            range_index_find(&tree->calls[number].ranges, address, NULL);
        if (range == NULL)
            break;
        number = range->value;
    }
    return number;
}

size_t
call_tree_size(const struct call_tree *tree)
{
    return tree->count * (sizeof(*tree->calls) + sizeof(struct range));
}

void
call_tree_free(struct call_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        range_index_free(&tree->calls[i].ranges);
    free(tree->calls);
    *tree = (struct call_tree){0};
}
