/* SPDX-License-Identifier: MIT */
/*
 * tree.h -- the stacks of a profile merged by name. The table and the folded
 * stacks are made from it. While the profile's nodes are places in code, a node
 * here is a function called from the functions above it, also an inlined one.
 * Processes, threads and lines are merged.
 */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

#include <stdint.h>

#include "model/profile.h"

enum tree_kind {
    /* A name is a function in a module; two of the same name in different
     * modules are two. */
    TREE_FUNCTIONS,
    /* A name is a frame of folded stacks: the function alone, without ';'. Only
     * samples that were running are in it. */
    TREE_FOLDED,
    /* As TREE_FOLDED, with all samples. Stacks that were not running end with a
     * frame
     * "[waiting]" or "[runnable]". */
    TREE_FOLDED_WALL,
    /* A name is a line of a function. */
    TREE_LINES,
    /* A name is a module; neighbours of the same module are one node. */
    TREE_MODULES,
};

/* The texts of a node. Strings are the profile's; "" if unknown, or not part of
 * a name of this kind. */
struct tree_label {
    const char *function, *module, *file;
    uint32_t line;
    uint32_t start_line; /* line of the function's declaration, or 0 */
};

struct tree_node {
    uint32_t parent; /* smaller than its own number; 0: the root */
    uint32_t name;
    uint64_t values[VALUE_COUNT]; /* of the stacks that end here */
};

struct tree {
    struct tree_node *nodes; /* [0] is the root, which has no name */
    uint32_t node_count;
    struct intern *names;         /* keys of labels: numbers of STRINGS */
    struct intern *edges;         /* (parent, name); numbers are nodes less 1 */
    const struct intern *strings; /* of the profile, which must outlive this */
};

/* Make the tree of PROFILE. Looks up the symbols of all stacks that have
 * samples. Returns NULL with errno set if memory is short. */
struct tree *tree_build(struct profile *profile, enum tree_kind kind);

/* The number of names. */
uint32_t tree_name_count(const struct tree *tree);

/* The function of NAME, and the last part of its module's path ("" if none). */
const char *tree_name(const struct tree *tree, uint32_t name);
const char *tree_module(const struct tree *tree, uint32_t name);

/* All parts of NAME. */
struct tree_label tree_label(const struct tree *tree, uint32_t name);

struct tree_sums {
    uint64_t values[VALUE_COUNT];
};

/* The sums in and below each node: an array for free(3), NULL with errno set if
 * memory is short. */
struct tree_sums *tree_totals(const struct tree *tree);

/* tree_new_like makes a tree with the names of TREE and no node but the root;
 * NULL if memory is short. tree_child returns the child of PARENT called NAME,
 * made if it is new; INTERN_NONE if memory is short. */
struct tree *tree_new_like(const struct tree *tree);
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t name);

/* Free TREE; NULL is allowed. The profile stays. */
void tree_free(struct tree *tree);

#endif
