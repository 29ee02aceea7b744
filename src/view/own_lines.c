/* SPDX-License-Identifier: MIT */
/* own_lines.c -- moves the flat values of a table of lines to own lines, and
 * removes all other rows. Lines of the same time are in the order of their
 * names. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"
#include "own_lines.h"

/* Parts of the paths of files that belong to Python, to its packages, and to
 * those of PHP. */
static const char *const foreign[] = {"/lib/python", "/lib64/python",
                                      "/site-packages/", "/dist-packages/",
                                      "/vendor/"};

static bool
is_own(const struct tree_label *label)
{
    const char *dot = strrchr(label->file, '.');
    if (dot == NULL || label->line == 0 ||
        (strcmp(dot, ".py") != 0 && strcmp(dot, ".php") != 0))
        return false;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (strstr(label->file, foreign[i]) != NULL)
            return false;
    return true;
}

/* OWNERS has for each node the name of the innermost own line above it and at
 * it, plus 1; 0: none. */
static void
find_owners(const struct tree *tree, const bool *are_own, uint32_t *owners)
{
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        owners[i] = are_own[node->name] ? node->name + 1 : owners[node->parent];
    }
}

/* Rows are still in the order of the names of TREE. */
static int
move_values(struct table *table, const struct tree *tree)
{
    bool *are_own = calloc(table->count + 1u, sizeof(*are_own));
    uint32_t *owners = calloc(tree->node_count, sizeof(*owners));
    bool is_done = are_own != NULL && owners != NULL;
    for (uint32_t i = 0; is_done && i < table->count; i++) {
        struct tree_label label = tree_label(tree, i);
        are_own[i] = is_own(&label);
        struct table_row *row = &table->rows[i];
        memset(row->flat, 0, sizeof(row->flat));
        memset(row->flat_squares, 0, sizeof(row->flat_squares));
        memset(row->cumulative, 0, sizeof(row->cumulative));
    }
    if (is_done)
        find_owners(tree, are_own, owners);
    for (uint32_t i = 1; is_done && i < tree->node_count; i++) {
        if (owners[i] == 0)
            continue;
        struct table_row *row = &table->rows[owners[i] - 1];
        tree_add_values(row->flat, tree->nodes[i].values);
        tree_add_squares(row->flat_squares, tree->nodes[i].squares);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; is_done && i < table->count; i++)
        if (are_own[i])
            table->rows[count++] = table->rows[i];
    if (is_done)
        table->count = count;
    free(are_own);
    free(owners);
    return is_done ? 0 : -1;
}

int
own_lines_build(struct table *table, struct profile *profile, enum value value)
{
    struct tree *tree = tree_build(profile, TREE_LINES);
    *table = (struct table){0};
    if (tree == NULL)
        return -1;
    int status = table_by_name(table, tree);
    if (status == 0 && move_values(table, tree) != 0) {
        table_release(table);
        errno = ENOMEM;
        status = -1;
    }
    if (status == 0)
        table_sort(table, value, TABLE_FLAT);
    tree_free(tree);
    return status;
}
