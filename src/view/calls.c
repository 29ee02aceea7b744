/* SPDX-License-Identifier: MIT */
/* calls.c -- see calls.h. Parents come before children, so one pass over the
 * nodes is enough. */
#include <errno.h>
#include <stdlib.h>

#include "util/intern.h"
#include "match.h"
#include "tree.h"
#include "calls.h"

/* Whether MATCH selects a function, by name. NULL if memory is short. */
static bool *
select_names(const struct tree *tree, const struct match *match)
{
    uint32_t names = tree_name_count(tree);
    bool *is_meant = calloc(names + 1, sizeof(*is_meant));
    for (uint32_t i = 0; i < names && is_meant != NULL; i++)
        is_meant[i] = match_is(match, tree_name(tree, i));
    return is_meant;
}

/* Whether the function of NODE is on the path above it. */
static bool
is_recursive(const struct tree *tree, uint32_t node)
{
    uint32_t name = tree->nodes[node].name;
    do
        node = tree->nodes[node].parent;
    while (node != 0 && tree->nodes[node].name != name);
    return node != 0;
}

static void
add_values(struct tree *tree, uint32_t node, const uint64_t *values)
{
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&tree->nodes[node].values[i], values[i]);
}

/* Add the path from NODE to the root with TOTAL, the sums below it. Returns 0,
 * or -1 if memory is short. */
static int
add_path(struct tree *callers, const struct tree *tree, uint32_t node,
         const struct tree_sums *total)
{
    uint32_t place = 0;
    for (; node != 0; node = tree->nodes[node].parent) {
        place = tree_child(callers, place, tree->nodes[node].name);
        if (place == INTERN_NONE)
            return -1;
    }
    add_values(callers, place, total->values);
    return 0;
}

/*
 * Of recursive calls only the outermost adds its path: its total has everything
 * below it. The callers of read in
 *
 *   main -> parse -> read  3        are   read -> parse -> main  3
 *   main -> load -> read   4              read -> load -> main   4
 */
static int
invert_paths(struct tree *callers, const struct tree *tree,
             const bool *is_meant)
{
    struct tree_sums *totals = tree_totals(tree);
    int status = totals == NULL ? -1 : 0;
    for (uint32_t i = 1; i < tree->node_count && status == 0; i++)
        if (is_meant[tree->nodes[i].name] && !is_recursive(tree, i))
            status = add_path(callers, tree, i, &totals[i]);
    free(totals);
    return status;
}

/*
 * The place of a node is below the place of its parent, or at the top for the
 * first selected node on a path. The callees of parse in
 *
 *   main -> parse -> read  3        are   parse -> read   7
 *   load -> parse -> read  4              parse -> parse  2
 *   main -> parse -> parse 2
 */
static int
copy_subtrees(struct tree *callees, const struct tree *tree,
              const bool *is_meant)
{
    uint32_t *places = calloc(tree->node_count, sizeof(*places));
    int status = places == NULL ? -1 : 0;
    for (uint32_t i = 1; i < tree->node_count && status == 0; i++) {
        const struct tree_node *node = &tree->nodes[i];
        uint32_t above = places[node->parent];
        if (above == 0 && !is_meant[node->name])
            continue;
        places[i] = tree_child(callees, above, node->name);
        if (places[i] == INTERN_NONE)
            status = -1;
        else
            add_values(callees, places[i], node->values);
    }
    free(places);
    return status;
}

/* The tree that MAKE fills from TREE. */
static struct tree *
build(const struct tree *tree, const struct match *match,
      int (*make)(struct tree *, const struct tree *, const bool *))
{
    struct tree *result = tree_new_like(tree);
    bool *is_meant = select_names(tree, match);
    int status = -1;
    if (result != NULL && is_meant != NULL)
        status = make(result, tree, is_meant);
    free(is_meant);
    if (status == 0)
        return result;
    tree_free(result);
    errno = ENOMEM;
    return NULL;
}

struct tree *
calls_callers(const struct tree *tree, const struct match *match)
{
    return build(tree, match, invert_paths);
}

struct tree *
calls_callees(const struct tree *tree, const struct match *match)
{
    return build(tree, match, copy_subtrees);
}
