/* SPDX-License-Identifier: MIT */
/* callees.h -- what a function calls: everything below it, wherever it was
 * called from, as one tree. */
#ifndef VIEW_CALLEES_H
#define VIEW_CALLEES_H

struct match;
struct tree;

/*
 * Make a tree with the functions that MATCH selects at its top. TREE is one of
 * TREE_FUNCTIONS. A function below itself is one of its own callees, and counts
 * once. Returns NULL with errno set if memory is short.
 */
struct tree *callees_build(const struct tree *tree, const struct match *match);

#endif
