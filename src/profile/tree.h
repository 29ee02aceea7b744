/* SPDX-License-Identifier: MIT */
/*
 * tree.h -- the stacks of a profile merged by name: what the table and the
 * folded stacks are made from. Where the profile's nodes are places in code, a
 * node here is a function called from the functions above it, inlined ones
 * included. Processes, threads and lines are merged.
 */
#ifndef PROFILE_TREE_H
#define PROFILE_TREE_H

#include <stdint.h>

#include "profile.h"

enum tree_kind {
    /* A name is a function in a module; two of the same name in different
     * modules are two. */
    TREE_FUNCTIONS,
    /* A name is a frame of folded stacks: the function alone, without ';'. Only
     * samples that were running are in it. */
    TREE_FOLDED,
    /* The same of all samples; a last frame "[waiting]" or "[runnable]" is on
     * stacks that were not running. */
    TREE_FOLDED_WALL,
    /* A name is a line of a function. */
    TREE_LINES,
    /* A name is a module; neighbours of the same module are one node. */
    TREE_MODULES,
};

/* What a node shows. Strings are the profile's, "" for what is not part of a
 * name of this kind, or unknown. */
struct tree_label {
    const char *function, *module, *file;
    uint32_t line;
    uint32_t start_line; /* of the function's declaration, 0 if unknown */
};

struct tree_node {
    uint32_t parent; /* smaller than its own number; 0 is the root */
    uint32_t name;
    uint64_t values[VALUE_COUNT]; /* of the stacks that end here */
};

struct tree {
    struct tree_node *nodes; /* [0] is the root, which has no name */
    uint32_t node_count;
    struct intern *names; /* what makes a label, numbers of STRINGS */
    struct intern *edges; /* (parent, name); numbers are those of nodes - 1 */
    const struct intern *strings; /* the profile's, which must outlive this */
};

/* Returns NULL with errno set if memory is short. Looks up the symbols of all
 * stacks that have samples. */
struct tree *tree_build(struct profile *profile, enum tree_kind kind);

/* How many names there are. */
uint32_t tree_name_count(const struct tree *tree);

/* The function, and the last part of its module's path ("" if none). */
const char *tree_name(const struct tree *tree, uint32_t name);
const char *tree_module(const struct tree *tree, uint32_t name);

/* All that makes a name. */
struct tree_label tree_label(const struct tree *tree, uint32_t name);

struct tree_sums {
    uint64_t values[VALUE_COUNT];
};

/* For each node, what is in it and below it: an array for free(3), NULL with
 * errno set if memory is short. */
struct tree_sums *tree_totals(const struct tree *tree);

/* A tree with the names of TREE and no other node than the root; and the child
 * of PARENT called NAME in it, made if it is new. NULL and INTERN_NONE if
 * memory is short. */
struct tree *tree_new_like(const struct tree *tree);
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t name);

void tree_free(struct tree *tree);

#endif
