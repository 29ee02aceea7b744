/* SPDX-License-Identifier: MIT */
/*
 * table.c -- sums over the tree of names. A node's total is its own values and
 * those below it. On a walk through the tree, a function counts the total of a
 * node only if it is not on the path already: that is what makes recursion
 * count once.
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "tree.h"
#include "walk.h"

struct sums {
    uint64_t values[VALUE_COUNT];
};

/* The walk's state. */
struct count {
    const struct tree *tree;
    struct table_row *rows; /* by name */
    struct sums *totals;    /* by node */
    uint32_t *on_path;      /* by name: how often it is on the path */
};

static void
enter(void *context, uint32_t node)
{
    struct count *count = context;
    const struct tree_node *at = &count->tree->nodes[node];
    struct table_row *row = &count->rows[at->name];
    bool first = count->on_path[at->name]++ == 0;

    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        profile_sum(&row->flat[i], at->values[i]);
        if (first)
            profile_sum(&row->cumulative[i], count->totals[node].values[i]);
    }
}

static void
leave(void *context, uint32_t node)
{
    struct count *count = context;

    count->on_path[count->tree->nodes[node].name]--;
}

/* Children have larger numbers than their parents, so from the last to the
 * first every node is complete when it is added to its parent. */
static void
sum_totals(struct count *count)
{
    const struct tree *tree = count->tree;

    for (uint32_t i = 0; i < tree->node_count; i++)
        memcpy(count->totals[i].values, tree->nodes[i].values,
               sizeof count->totals[i].values);
    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        struct sums *parent = &count->totals[tree->nodes[i].parent];
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            profile_sum(&parent->values[j], count->totals[i].values[j]);
    }
}

/* Walk the tree once and sum into the rows. */
static int
fill(struct table *table, const struct tree *tree)
{
    struct count count = {.tree = tree, .rows = table->rows};
    struct walk_visitor visitor = {enter, leave, &count};
    int status = -1;

    count.totals = calloc(tree->node_count, sizeof *count.totals);
    count.on_path = calloc(table->count + 1, sizeof *count.on_path);
    if (count.totals != NULL && count.on_path != NULL) {
        sum_totals(&count);
        status = walk_tree(tree, &visitor);
    }
    free(count.on_path);
    free(count.totals);
    return status;
}

/* -1 if A is the larger, so that large values come first. */
static int
larger(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* Ties are broken by everything there is, so that output is stable. */
static int
compare(const void *a, const void *b, void *context)
{
    const struct table_row *one = a, *two = b;
    enum value value = *(enum value *)context;
    int order = larger(one->flat[value], two->flat[value]);

    if (order == 0)
        order = larger(one->cumulative[value], two->cumulative[value]);
    if (order == 0)
        order = larger(one->flat[VALUE_SAMPLES], two->flat[VALUE_SAMPLES]);
    if (order == 0)
        order = larger(one->cumulative[VALUE_SAMPLES],
                       two->cumulative[VALUE_SAMPLES]);
    if (order == 0)
        order = strcmp(one->function, two->function);
    return order != 0 ? order : strcmp(one->module, two->module);
}

int
table_build(struct table *table, struct profile *profile, enum value value)
{
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);

    *table = (struct table){0};
    if (tree == NULL)
        goto err0;
    table->count = tree_name_count(tree);
    table->rows = calloc(table->count + 1, sizeof *table->rows);
    if (table->rows == NULL)
        goto err1;
    for (uint32_t i = 0; i < table->count; i++) {
        table->rows[i].function = tree_name(tree, i);
        table->rows[i].module = tree_module(tree, i);
    }
    if (fill(table, tree) < 0)
        goto err2;
    qsort_r(table->rows, table->count, sizeof *table->rows, compare, &value);
    tree_free(tree);
    return 0;

err2:
    table_release(table);
err1:
    tree_free(tree);
err0:
    return -1;
}

void
table_release(struct table *table)
{
    free(table->rows);
    *table = (struct table){0};
}
