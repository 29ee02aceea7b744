/* SPDX-License-Identifier: MIT */
/*
 * callers.h -- which functions call a function: the stacks with it, upside
 * down. From
 *
 *   main -> a -> f -> x   2
 *   main -> b -> f        3
 *
 * it makes the tree f -> a -> main 2, f -> b -> main 3. A stack in which the
 * function occurs several times counts once, from the call nearest to the root:
 * the caller that began it is wanted.
 */
#ifndef VIEW_CALLERS_H
#define VIEW_CALLERS_H

struct match;
struct tree;

/* Make a tree of the callers of each function of TREE that MATCH selects.
 * Returns NULL with errno set if memory is short. */
struct tree *callers_build(const struct tree *tree, const struct match *match);

#endif
