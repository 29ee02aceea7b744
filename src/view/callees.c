/* SPDX-License-Identifier: MIT */
/*
 * callees.c -- finds the place of every node in one pass, because parents come
 * before children. The place is below the place of the parent, or at the top
 * for the first selected node on a path. The callees of parse in
 *
 *   main -> parse -> read  3        are   parse -> read   7
 *   load -> parse -> read  4              parse -> parse  2
 *   main -> parse -> parse 2
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/intern.h"
#include "match.h"
#include "tree.h"
#include "callees.h"

/* The place of NODE in CALLEES, 0 if neither it nor a node above it is
 * selected. INTERN_NONE if memory is short. PLACES has the place of its
 * parent. */
static uint32_t
find_place(struct tree *callees, const struct tree_node *node, bool is_meant,
           const uint32_t *places)
{
    uint32_t above = places[node->parent];
    if (above == 0 && !is_meant)
        return 0;
    return tree_child(callees, above, node->name);
}

/* Copy the subtrees of selected nodes. Returns 0, or -1 if memory is short. */
static int
copy_subtrees(struct tree *callees, const struct tree *tree,
              const bool *is_meant, uint32_t *places)
{
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        places[i] = find_place(callees, node, is_meant[node->name], places);
        if (places[i] == INTERN_NONE)
            return -1;
        for (unsigned j = 0; j < VALUE_COUNT && places[i] != 0; j++)
            sum_add(&callees->nodes[places[i]].values[j], node->values[j]);
    }
    return 0;
}

struct tree *
callees_build(const struct tree *tree, const struct match *match)
{
    uint32_t names = tree_name_count(tree);
    struct tree *callees = tree_new_like(tree);
    bool *is_meant = calloc(names + 1, sizeof(*is_meant));
    uint32_t *places = calloc(tree->node_count, sizeof(*places));
    int status = -1;
    if (callees != NULL && is_meant != NULL && places != NULL) {
        for (uint32_t i = 0; i < names; i++)
            is_meant[i] = match_is(match, tree_name(tree, i));
        status = copy_subtrees(callees, tree, is_meant, places);
    }
    free(places);
    free(is_meant);
    if (status == 0)
        return callees;
    tree_free(callees);
    errno = ENOMEM;
    return NULL;
}
