/* SPDX-License-Identifier: MIT */
/*
 * stack_tree.c -- the tree of stacks as one hash table, doubled when it is half
 * full. Memory comes from the kernel, not from the program's allocator.
 */
#include <stddef.h>

#include "base/sys.h"
#include "stack_tree.h"

#define FIRST_SIZE 4096u

struct node {
    uint64_t frame;
    uint32_t parent, id; /* ID 0: empty */
};
_Static_assert(sizeof(struct node) == 16, "four nodes a cache line");

static struct node *nodes;
static uint32_t size, count, last_id;

static uint32_t
hash(uint32_t parent, uint64_t frame)
{
    uint64_t mix = (frame ^ (uint64_t)parent << 40) + parent;
    mix *= 0x9e3779b97f4a7c15u;
    return (uint32_t)((mix ^ mix >> 29) >> 16);
}

/* What an earlier tree has grown to is given back. */
int
stack_tree_begin(void)
{
    struct node *small = nodes;
    last_id = count = 0;
    if (size != FIRST_SIZE)
        small = sys_reserve(FIRST_SIZE * sizeof(*nodes));
    if (small == NULL || small == nodes) {
        nodes = sys_renew(nodes, size * sizeof(*nodes));
        return nodes != NULL ? 0 : -1;
    }
    sys_release(nodes, size * sizeof(*nodes));
    nodes = small;
    size = FIRST_SIZE;
    return 0;
}

void
stack_tree_forget(void)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < size; i++)
        nodes[i].id = 0;
    count = 0;
}

/* The place of FRAME under PARENT in TABLE: its node, or an empty one. */
static struct node *
find_place(struct node *table, uint32_t table_size, uint32_t parent,
           uint64_t frame)
{
    uint32_t i = hash(parent, frame) & (table_size - 1);
    while (table[i].id != 0 &&
           (table[i].frame != frame || table[i].parent != parent))
        i = (i + 1) & (table_size - 1);
    return &table[i];
}

static int
grow(void)
{
    uint32_t doubled = size * 2;
    struct node *bigger = sys_reserve_present(doubled * sizeof(*bigger));
    if (bigger == NULL)
        return -1;
    for (uint32_t i = 0; i < size; i++)
        if (nodes[i].id != 0)
            *find_place(bigger, doubled, nodes[i].parent, nodes[i].frame) =
                nodes[i];
    sys_release(nodes, size * sizeof(*nodes));
    nodes = bigger;
    size = doubled;
    return 0;
}

uint32_t
stack_tree_node(uint32_t parent, uint64_t frame, bool *is_new)
{
    struct node *node = find_place(nodes, size, parent, frame);
    *is_new = node->id == 0;
    if (node->id != 0)
        return node->id;
    if (count >= size / 2) {
        if (grow() != 0)
            return 0;
        node = find_place(nodes, size, parent, frame);
    }
    *node = (struct node){frame, parent, ++last_id};
    count++;
    return node->id;
}
