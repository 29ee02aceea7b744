/* SPDX-License-Identifier: MIT */
/*
 * stack_tree.h -- writes stacks into the journal, as a tree: a node is a frame
 * under the node of its caller. The modules in which the frames lie are written
 * before them. Context: sampler.
 */
#ifndef JOURNAL_STACK_TREE_H
#define JOURNAL_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "process/modules.h"
#include "unwind/walk.h"

/* Put the frames of WALK, which is over, in order, and return the node of that
 * stack, which is one of thread INDEX. Returns 0 if the stack could not be
 * written. */
uint32_t stack_tree_enter(struct walk *walk, uint32_t index);

/* A module was mapped: frames that were in no module may lie in it. */
void stack_tree_module_came(void);

/* A module was unmapped: its frames are no longer looked up. */
void stack_tree_module_gone(const struct module *module);

/* Whether the file has frames in no module. */
bool stack_tree_has_bare(void);

#endif
