/* SPDX-License-Identifier: MIT */
/* callees.h -- what a function calls: all that is below it, wherever it was
 * called from, as one tree. */
#ifndef PROFILE_CALLEES_H
#define PROFILE_CALLEES_H

struct match;
struct tree;

/*
 * A tree with the functions that MATCH means at its top. TREE is one of
 * TREE_FUNCTIONS. A function that is below itself is one of its own callees,
 * and counts once. Returns NULL with errno set if memory is short.
 */
struct tree *callees_build(const struct tree *tree, const struct match *match);

#endif
