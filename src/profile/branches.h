/* SPDX-License-Identifier: MIT */
/*
 * branches.h -- a tree in the order in which it is read: each node before its
 * children, the largest child first, and without the parts that are too small.
 */
#ifndef PROFILE_BRANCHES_H
#define PROFILE_BRANCHES_H

#include <stdint.h>

#include "profile.h"

struct tree;

struct branch {
    uint32_t node;     /* of the tree */
    uint32_t parent;   /* number of a branch, smaller than its own */
    uint32_t children; /* that are branches */
    bool is_last;      /* child of its parent */
    uint64_t own[VALUE_COUNT], total[VALUE_COUNT];
    /* Children that were left out, and what is in and below them. */
    uint32_t hidden;
    uint64_t hidden_total[VALUE_COUNT];
};

struct branches {
    struct branch *all; /* [0] is the root, which has no name */
    uint32_t count;     /* with the root */
};

/* TREE without the nodes that have, with all below them, less than LEAST of
 * VALUE, and without those that are more than DEPTH calls below the root (0: of
 * any depth). Returns 0, or -1 with errno set if memory is short. */
int branches_build(struct branches *branches, const struct tree *tree,
                   enum value value, uint64_t least, uint32_t depth);

void branches_release(struct branches *branches);

#endif
