/* SPDX-License-Identifier: MIT */
/*
 * tree.h -- the stacks of a profile merged by name. The table and the folded
 * stacks are made from it. While the profile's nodes are places in code, a node
 * here is a function called from the functions above it, also an inlined one.
 * Processes, threads and lines are merged.
 *
 * The branches of a tree are its nodes in the order in which they are read:
 * each node before its children, the largest child first, without the parts
 * that are too small.
 */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

#include <stdint.h>

#include "model/profile.h"

enum tree_kind {
    /* A name is a function in a module; two of the same name in different
     * modules are two. */
    TREE_FUNCTIONS,
    /* The same with recursion folded, direct or not: a stack that comes back to
     * a function goes on in the first node of that function. */
    TREE_ONCE,
    /* A name is a frame of folded stacks: the function alone, without ';'. Only
     * samples that were running are in it. A stack that waited ends with a
     * frame for its state (sample_state_frame). */
    TREE_FOLDED,
    /* As TREE_FOLDED, with all samples. */
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
    double squares[VALUE_COUNT];  /* confidence.h; none of VALUE_SAMPLES */
};

struct tree {
    struct tree_node *nodes; /* [0] is the root, which has no name */
    uint32_t node_count;
    struct intern *names;         /* keys of labels: numbers of STRINGS */
    struct intern *edges;         /* (parent, name); numbers are nodes less 1 */
    const struct intern *strings; /* of the profile, which must outlive this */
    uint32_t idle; /* node of idle threads (model/idle.h); 0: none */
};

/* Add VALUES to SUMS. */
static inline void
tree_add_values(uint64_t sums[VALUE_COUNT], const uint64_t values[VALUE_COUNT])
{
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&sums[i], values[i]);
}

static inline void
tree_add_squares(double sums[VALUE_COUNT], const double squares[VALUE_COUNT])
{
    for (unsigned i = VALUE_CPU; i < VALUE_COUNT; i++)
        sums[i] += squares[i];
}

/* For qsort: -1 if A is larger, so that large values come first. */
static inline int
tree_larger(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* Make the tree of PROFILE. Looks up the symbols of all stacks that have
 * samples. Returns NULL with errno set if memory is short. */
struct tree *tree_build(struct profile *profile, enum tree_kind kind);

/* The number of names. */
uint32_t tree_name_count(const struct tree *tree);

/* The function of NAME; and all parts of it. */
const char *tree_name(const struct tree *tree, uint32_t name);
struct tree_label tree_label(const struct tree *tree, uint32_t name);

struct tree_sums {
    uint64_t values[VALUE_COUNT];
    double squares[VALUE_COUNT];
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

/* As tree_walk_by_name, with children in the order of their numbers: for sums,
 * which need no order of names. */
int tree_walk_by_number(const struct tree *tree,
                        const struct tree_visitor *visitor);

struct branch {
    uint32_t node;     /* of the tree */
    uint32_t parent;   /* index of a branch, smaller than its own */
    uint32_t children; /* children that are branches */
    bool is_last;      /* it is its parent's last child */
    uint64_t own[VALUE_COUNT], total[VALUE_COUNT];
    double squares[VALUE_COUNT]; /* of TOTAL */
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
 * The node of idle threads comes after its siblings, however large it is.
 * Returns 0, or -1 with errno set if memory is short. */
int tree_branches(struct branches *branches, const struct tree *tree,
                  enum value value, uint64_t least, uint32_t depth);

void tree_release_branches(struct branches *branches);

#endif
