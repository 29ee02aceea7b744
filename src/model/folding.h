/* SPDX-License-Identifier: MIT */
/*
 * folding.h -- leaves out of all stacks the native frames that an interpreter
 * has for each of its own functions: its loop, and the functions by which the
 * loop is entered. The functions of the interpreter stand in their place.
 * Native functions that these call, and that call them, stay, unless functions
 * of the interpreter are to be shown alone.
 */
#ifndef MODEL_FOLDING_H
#define MODEL_FOLDING_H

#include "profile.h"

/* Fold the stacks of all samples of PROFILE, unless it shows native frames
 * (shows_native; shows_script comes first).
 * This looks up names if there are functions of an interpreter. */
void folding_apply(struct profile *profile);

/* The same for the nodes that were added since the last call, and for no
 * sample: the caller asks folding_shown for the node of each. */
void folding_extend(struct profile *profile);

/* The node that stands in place of NODE, which may be folded. */
uint32_t folding_shown(const struct profile *profile, uint32_t node);

#endif
