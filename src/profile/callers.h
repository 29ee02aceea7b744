/* SPDX-License-Identifier: MIT */
/*
 * callers.h -- who calls a function: the stacks that have it, upside down. From
 *
 *   main -> a -> f -> x   2
 *   main -> b -> f        3
 *
 * it makes the tree f -> a -> main 2, f -> b -> main 3. A stack in which the
 * function occurs several times counts once, from the call that is nearest to
 * the root: who began it is asked for.
 */
#ifndef PROFILE_CALLERS_H
#define PROFILE_CALLERS_H

struct match;
struct tree;

/* The callers of each function of TREE that MATCH means. Returns NULL with
 * errno set if memory is short. */
struct tree *callers_build(const struct tree *tree, const struct match *match);

#endif
