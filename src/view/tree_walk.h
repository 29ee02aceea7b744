/* SPDX-License-Identifier: MIT */
/* tree_walk.h -- visits the nodes of a tree (tree.h) in the order of a reader.
 */
#ifndef VIEW_TREE_WALK_H
#define VIEW_TREE_WALK_H

#include <stdint.h>

#include "tree.h"

struct tree_visitor {
    void (*enter)(void *context, uint32_t node); /* before its children */
    void (*leave)(void *context, uint32_t node); /* after its children; may be
                                                  NULL */
    void *context;
};

/* Visit all nodes but the root, depth first, children in the order of their
 * names. It needs no stack of its own, however deep the tree. Returns 0, or -1
 * with errno set, before the first visit, if memory is short. */
int tree_walk_by_name(const struct tree *tree,
                      const struct tree_visitor *visitor);

/* As tree_walk_by_name, for the COUNT nodes of ORDER alone, with children in
 * that order. The parent of a node in ORDER is in it, too, or the root. */
int tree_walk(const struct tree *tree, const uint32_t *order, uint32_t count,
              const struct tree_visitor *visitor);

/* As tree_walk_by_name, with children in the order of their numbers: for sums,
 * which need no order of names. */
int tree_walk_by_number(const struct tree *tree,
                        const struct tree_visitor *visitor);

#endif
