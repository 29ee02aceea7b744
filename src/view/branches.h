/* SPDX-License-Identifier: MIT */
/*
 * branches.h -- a tree in the order in which it is read: each node before its
 * children, the largest child first, without the parts that are too small.
 */
#ifndef VIEW_BRANCHES_H
#define VIEW_BRANCHES_H

#include <stdint.h>

#include "model/profile.h"

struct tree;

struct branch {
    uint32_t node;     /* of the tree */
    uint32_t parent;   /* index of a branch, smaller than its own */
    uint32_t children; /* children that are branches */
    bool is_last;      /* it is its parent's last child */
    uint64_t own[VALUE_COUNT], total[VALUE_COUNT];
    /* The number of children that were left out, and the sums
     * in and below them. */
    uint32_t hidden;
    uint64_t hidden_total[VALUE_COUNT];
};

struct branches {
    struct branch *all; /* [0] is the root, which has no name */
    uint32_t count;     /* with the root */
};

/* Choose the nodes of TREE that have, with all below them, at least LEAST of
 * VALUE. Nodes more than DEPTH calls below the root are left out (0: no limit).
 * Returns 0, or -1 with errno set if memory is short. */
int branches_build(struct branches *branches, const struct tree *tree,
                   enum value value, uint64_t least, uint32_t depth);

void branches_release(struct branches *branches);

#endif
