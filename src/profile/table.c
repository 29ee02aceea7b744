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

#include "groups.h"
#include "tree.h"
#include "walk.h"

/* The walk's state. */
struct count {
    const struct tree *tree;
    struct table_row *rows;   /* by name */
    struct tree_sums *totals; /* by node */
    uint32_t *on_path;        /* by name: how often it is on the path */
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

/* Walk the tree once and sum into the rows. */
static int
fill(struct table *table, const struct tree *tree)
{
    struct count count = {.tree = tree, .rows = table->rows};
    struct walk_visitor visitor = {enter, leave, &count};
    int status = -1;

    count.totals = tree_totals(tree);
    count.on_path = calloc(table->count + 1, sizeof *count.on_path);
    if (count.totals != NULL && count.on_path != NULL) {
        status = walk_by_number(tree, &visitor);
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

/* What rows are compared by. */
struct key {
    enum value value;
    enum table_order order;
};

/* Ties are broken by everything there is, so that output is stable. */
static int
compare(const void *a, const void *b, void *context)
{
    const struct table_row *one = a, *two = b;
    const struct key *key = context;
    enum value value = key->value;
    int order = 0;

    if (key->order == TABLE_CUMULATIVE)
        order = larger(one->cumulative[value], two->cumulative[value]);
    if (order == 0)
        order = larger(one->flat[value], two->flat[value]);
    if (order == 0)
        order = larger(one->cumulative[value], two->cumulative[value]);
    if (order == 0)
        order = larger(one->flat[VALUE_SAMPLES], two->flat[VALUE_SAMPLES]);
    if (order == 0)
        order = larger(one->cumulative[VALUE_SAMPLES],
                       two->cumulative[VALUE_SAMPLES]);
    if (order == 0)
        order = strcmp(one->function, two->function);
    if (order == 0)
        order = strcmp(one->module, two->module);
    if (order == 0)
        order = strcmp(one->file, two->file);
    if (order == 0)
        order = (one->line > two->line) - (one->line < two->line);
    return order != 0 ? order : (one->id > two->id) - (one->id < two->id);
}

void
table_sort(struct table *table, enum value value, enum table_order order)
{
    struct key key = {value, order};

    if (table->count > 0)
        qsort_r(table->rows, table->count, sizeof *table->rows, compare, &key);
}

static void
sort(struct table *table, enum value value)
{
    table_sort(table, value, TABLE_FLAT);
}

int
table_of_tree(struct table *table, const struct tree *tree, enum value value)
{
    table->count = tree_name_count(tree);
    table->rows = calloc(table->count + 1, sizeof *table->rows);
    if (table->rows == NULL)
        return -1;
    for (uint32_t i = 0; i < table->count; i++) {
        struct tree_label label = tree_label(tree, i);
        table->rows[i].function = label.function;
        table->rows[i].module = label.module;
        table->rows[i].file = label.file;
        table->rows[i].line = label.line;
        table->rows[i].start_line = label.start_line;
    }
    if (fill(table, tree) < 0) {
        table_release(table);
        return -1;
    }
    sort(table, value);
    return 0;
}

int
table_build(struct table *table, struct profile *profile, enum value value)
{
    return table_build_by(table, profile, TABLE_FUNCTION, value);
}

/* Functions, lines and modules are in frames, and need a tree. The others are
 * in samples, which groups.c sums up without one. */
int
table_build_by(struct table *table, struct profile *profile, enum table_by by,
               enum value value)
{
    static const enum tree_kind kinds[] = {
        [TABLE_FUNCTION] = TREE_FUNCTIONS,
        [TABLE_LINE] = TREE_LINES,
        [TABLE_MODULE] = TREE_MODULES,
    };
    struct tree *tree;
    int status;

    *table = (struct table){0};
    if (by > TABLE_MODULE) {
        status = groups_build(table, profile, by, NULL);
        if (status == 0)
            sort(table, value);
        return status;
    }
    tree = tree_build(profile, kinds[by]);
    if (tree == NULL)
        return -1;
    status = table_of_tree(table, tree, value);
    tree_free(tree);
    return status;
}

int
table_build_by_label(struct table *table, struct profile *profile,
                     const char *key, enum value value)
{
    int status;

    *table = (struct table){0};
    status = groups_build(table, profile, TABLE_LABEL, key);
    if (status == 0)
        sort(table, value);
    return status;
}

void
table_release(struct table *table)
{
    free(table->rows);
    *table = (struct table){0};
}
