/* SPDX-License-Identifier: MIT */
/*
 * stack_tree.h -- numbers the nodes of the tree of all stacks: the same frame
 * under the same parent is one node. Sampler thread alone.
 */
#ifndef AGENT_STACK_TREE_H
#define AGENT_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Empty the tree; numbers begin at 1. Returns 0, or -1 if memory is short. */
int stack_tree_begin(void);

/* The node of FRAME under PARENT; *IS_NEW if it was not there before. Returns 0
 * if memory is short. */
uint32_t stack_tree_node(uint32_t parent, uint64_t frame, bool *is_new);

/* Frames mean something else from now on: nodes are found no more, numbers
 * go on. */
void stack_tree_forget(void);

#endif
