/* SPDX-License-Identifier: MIT */
/*
 * branches.c -- sorts the nodes that are large enough by size, once, and walks
 * over them in that order. A child is never larger than its parent, so the
 * remaining nodes are a tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"
#include "tree_walk.h"
#include "branches.h"

/* The state while building. Arrays have an entry for each node of TREE. */
struct growth {
    const struct tree *tree;
    struct tree_sums *totals;
    enum value value;
    uint64_t least;
    uint32_t depth;    /* limit; 0: none */
    uint32_t *levels;  /* below the root */
    uint32_t *numbers; /* of branches; 0: none */
    uint32_t *sorted;  /* nodes that are kept */
    uint32_t kept;
    bool *has_last; /* by branch: its last child was seen */
    struct branches *branches;
};

static int
larger(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* For qsort_r: the largest first. Ties are broken by all other fields, so that
 * output is stable. */
static int
compare_nodes(const void *a, const void *b, void *context)
{
    const struct growth *growth = context;
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    const uint64_t *first = growth->totals[one].values;
    const uint64_t *second = growth->totals[two].values;
    int order = larger(first[growth->value], second[growth->value]);
    if (order == 0)
        order = larger(first[VALUE_WALL], second[VALUE_WALL]);
    if (order != 0)
        return order;
    struct tree_label left =
        tree_label(growth->tree, growth->tree->nodes[one].name);
    struct tree_label right =
        tree_label(growth->tree, growth->tree->nodes[two].name);
    order = strcmp(left.function, right.function);
    if (order == 0)
        order = strcmp(left.module, right.module);
    return order != 0 ? order : (one > two) - (one < two);
}

/* Choose the nodes to keep, and sort them. */
static void
choose_nodes(struct growth *growth)
{
    const struct tree *tree = growth->tree;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        growth->levels[i] = growth->levels[tree->nodes[i].parent] + 1;
        if (growth->totals[i].values[growth->value] >= growth->least &&
            (growth->depth == 0 || growth->levels[i] <= growth->depth))
            growth->sorted[growth->kept++] = i;
    }
    if (growth->kept > 0)
        qsort_r(growth->sorted, growth->kept, sizeof(*growth->sorted),
                compare_nodes, growth);
}

/* Append the branch for NODE. */
static void
add_branch(void *context, uint32_t node)
{
    struct growth *growth = context;
    struct branches *branches = growth->branches;
    struct branch *branch = &branches->all[branches->count];
    uint32_t parent = growth->numbers[growth->tree->nodes[node].parent];
    *branch = (struct branch){.node = node, .parent = parent};
    memcpy(branch->own, growth->tree->nodes[node].values, sizeof(branch->own));
    memcpy(branch->total, growth->totals[node].values, sizeof(branch->total));
    branches->all[parent].children += node != 0;
    growth->numbers[node] = branches->count++;
}

/* Append all branches. From the last one on, the first that is seen of a parent
 * is its last child. Returns 0, or -1 if memory is short. */
static int
add_all(struct growth *growth)
{
    const struct tree_visitor visitor = {add_branch, NULL, growth};
    struct branch *all = growth->branches->all;
    add_branch(growth, 0);
    if (tree_walk(growth->tree, growth->sorted, growth->kept, &visitor) != 0)
        return -1;
    for (uint32_t i = growth->branches->count - 1; i > 0; i--) {
        all[i].is_last = !growth->has_last[all[i].parent];
        growth->has_last[all[i].parent] = true;
    }
    return 0;
}

/* Sum up in each kept parent the children that are left out. */
static void
add_hidden(struct branches *branches, const struct growth *growth)
{
    for (uint32_t i = 1; i < growth->tree->node_count; i++) {
        uint32_t parent = growth->tree->nodes[i].parent;
        struct branch *branch = &branches->all[growth->numbers[parent]];
        if (growth->numbers[i] != 0 ||
            (parent != 0 && growth->numbers[parent] == 0))
            continue;
        branch->hidden++;
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            sum_add(&branch->hidden_total[j], growth->totals[i].values[j]);
    }
}

int
branches_build(struct branches *branches, const struct tree *tree,
               enum value value, uint64_t least, uint32_t depth)
{
    size_t count = tree->node_count;
    struct growth growth = {
        .tree = tree,
        .value = value,
        .least = least,
        .depth = depth,
        .levels = calloc(count, sizeof(uint32_t)),
        .totals = tree_totals(tree),
        .numbers = calloc(count, sizeof(uint32_t)),
        .sorted = malloc(count * sizeof(uint32_t)),
        .has_last = calloc(count, sizeof(bool)),
        .branches = branches,
    };
    int status = -1;
    *branches = (struct branches){0};
    if (growth.totals != NULL && growth.numbers != NULL &&
        growth.sorted != NULL && growth.levels != NULL &&
        growth.has_last != NULL) {
        choose_nodes(&growth);
        branches->all = malloc((growth.kept + 1) * sizeof(*branches->all));
    }
    if (branches->all != NULL)
        status = add_all(&growth);
    if (status == 0)
        add_hidden(branches, &growth);
    else
        branches_release(branches);
    free(growth.has_last);
    free(growth.sorted);
    free(growth.numbers);
    free(growth.levels);
    free(growth.totals);
    if (status != 0)
        errno = ENOMEM;
    return status;
}

void
branches_release(struct branches *branches)
{
    free(branches->all);
    *branches = (struct branches){0};
}
