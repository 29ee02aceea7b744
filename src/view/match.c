/* SPDX-License-Identifier: MIT */
/* match.c -- see match.h. Parents come before children, so one pass over the
 * nodes of a tree is enough. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/intern.h"
#include "tree.h"
#include "match.h"

bool
match_is(const struct match *match, const char *function)
{
    return match->is_exact ? strcmp(match->text, function) == 0
                           : regexec(&match->regex, function, 0, NULL, 0) == 0;
}

/* Whether MATCH selects any function of TREE. */
static bool
has_any(const struct match *match, const struct tree *tree)
{
    for (uint32_t i = 0; i < tree_name_count(tree); i++)
        if (match_is(match, tree_name(tree, i)))
            return true;
    return false;
}

/* The literal name comes first: "operator+" as an expression would
 * mean another one. */
int
match_begin(struct match *match, const struct tree *tree, const char *text,
            char *error, size_t size)
{
    *match = (struct match){.text = text, .is_exact = true};
    if (has_any(match, tree))
        return 0;
    match->is_exact = false;
    int wrong = regcomp(&match->regex, text, REG_EXTENDED | REG_NOSUB);
    if (wrong != 0) {
        char reason[256];
        regerror(wrong, &match->regex, reason, sizeof(reason));
        snprintf(error, size, "%s: no function has this name, and: %s", text,
                 reason);
        return -1;
    }
    if (has_any(match, tree))
        return 0;
    regfree(&match->regex);
    snprintf(error, size, "%s: no function in the profile has or matches this",
             text);
    return -1;
}

void
match_end(struct match *match)
{
    if (!match->is_exact)
        regfree(&match->regex);
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
    tree_add_values(callers->nodes[place].values, total->values);
    tree_add_squares(callers->nodes[place].squares, total->squares);
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
        if (places[i] == INTERN_NONE) {
            status = -1;
            break;
        }
        struct tree_node *place = &callees->nodes[places[i]];
        tree_add_values(place->values, node->values);
        tree_add_squares(place->squares, node->squares);
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
    uint32_t names = tree_name_count(tree);
    bool *is_meant = NULL;
    int status = -1;
    if (result != NULL && ARRAY_NEW(is_meant, names)) {
        for (uint32_t i = 0; i < names; i++)
            is_meant[i] = match_is(match, tree_name(tree, i));
        status = make(result, tree, is_meant);
    }
    free(is_meant);
    if (status == 0)
        return result;
    tree_free(result);
    errno = ENOMEM;
    return NULL;
}

struct tree *
match_callers(const struct tree *tree, const struct match *match)
{
    return build(tree, match, invert_paths);
}

struct tree *
match_callees(const struct tree *tree, const struct match *match)
{
    return build(tree, match, copy_subtrees);
}
