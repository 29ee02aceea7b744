/* SPDX-License-Identifier: MIT */
/*
 * calls.h -- which functions call a function, and what it calls, each as one
 * tree with the functions that a match selects at its top. The stacks are those
 * of a tree of TREE_FUNCTIONS. Both return NULL with errno set if memory is
 * short.
 */
#ifndef VIEW_CALLS_H
#define VIEW_CALLS_H

struct match;
struct tree;

/*
 * The stacks with these functions, upside down. From
 *
 *   main -> a -> f -> x   2
 *   main -> b -> f        3
 *
 * it makes the tree f -> a -> main 2, f -> b -> main 3. A stack in which the
 * function occurs several times counts once, from the call nearest to the root:
 * the caller that began it is wanted.
 */
struct tree *calls_callers(const struct tree *tree, const struct match *match);

/* Everything below these functions, wherever they were called from. A function
 * below itself is one of its own callees, and counts once. */
struct tree *calls_callees(const struct tree *tree, const struct match *match);

#endif
