/* SPDX-License-Identifier: MIT */
/* callers.c -- walks through the tree. Each node of the function that is
 * not below another one adds the path above it, with the sum of
 * everything below it. */
#include <errno.h>
#include <stdlib.h>

#include "util/intern.h"
#include "match.h"
#include "tree.h"
#include "tree_walk.h"
#include "callers.h"

/* The walk's state. */
struct inversion {
    const struct tree *tree;
    struct tree *callers;
    struct tree_sums *totals;
    bool *is_meant;    /* by name */
    uint32_t *on_path; /* by name: how often it is on the path */
    int status;
};

/* Add the path from NODE to the root. Returns 0, or -1 if memory is short. */
static int
add_path(struct inversion *inversion, uint32_t node)
{
    const struct tree_sums *sums = &inversion->totals[node];
    uint32_t place = 0;
    for (; node != 0; node = inversion->tree->nodes[node].parent) {
        place = tree_child(inversion->callers, place,
                           inversion->tree->nodes[node].name);
        if (place == INTERN_NONE)
            return -1;
    }
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&inversion->callers->nodes[place].values[i], sums->values[i]);
    return 0;
}

/*
 * Of recursive calls only the outermost adds its path: its total has everything
 * below it. The callers of read in
 *
 *   main -> parse -> read  3        are   read -> parse -> main  3
 *   main -> load -> read   4              read -> load -> main   4
 */
static void
enter_node(void *context, uint32_t node)
{
    struct inversion *inversion = context;
    uint32_t name = inversion->tree->nodes[node].name;
    if (inversion->on_path[name]++ == 0 && inversion->is_meant[name] &&
        inversion->status == 0)
        inversion->status = add_path(inversion, node);
}

static void
leave_node(void *context, uint32_t node)
{
    struct inversion *inversion = context;
    inversion->on_path[inversion->tree->nodes[node].name]--;
}

struct tree *
callers_build(const struct tree *tree, const struct match *match)
{
    uint32_t names = tree_name_count(tree);
    struct inversion inversion = {
        .tree = tree,
        .callers = tree_new_like(tree),
        .totals = tree_totals(tree),
        .is_meant = calloc(names + 1, sizeof(bool)),
        .on_path = calloc(names + 1, sizeof(uint32_t)),
    };
    const struct tree_visitor visitor = {enter_node, leave_node, &inversion};
    if (inversion.callers == NULL || inversion.totals == NULL ||
        inversion.is_meant == NULL || inversion.on_path == NULL) {
        inversion.status = -1;
    } else {
        for (uint32_t i = 0; i < names; i++)
            inversion.is_meant[i] = match_is(match, tree_name(tree, i));
        if (tree_walk_by_number(tree, &visitor) != 0)
            inversion.status = -1;
    }
    free(inversion.on_path);
    free(inversion.is_meant);
    free(inversion.totals);
    if (inversion.status != 0) {
        tree_free(inversion.callers);
        errno = ENOMEM;
        return NULL;
    }
    return inversion.callers;
}
