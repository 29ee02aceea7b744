/* SPDX-License-Identifier: MIT */
/*
 * folding.h -- replaces the native frames of an interpreter in all stacks by
 * the functions that it runs. These frames are its loop, and the functions that
 * enter the loop. Other native callers and callees stay, unless functions of
 * the interpreter are to be shown alone.
 */
#ifndef MODEL_FOLDING_H
#define MODEL_FOLDING_H

#include "profile.h"

/* Fold the stacks of all samples of PROFILE, unless it shows native frames
 * (shows_native; shows_script comes first).
 * This looks up names if there are functions of an interpreter. */
void folding_apply(struct profile *profile);

/* The same for nodes that were added since the last call, without changing
 * samples: the caller asks folding_shown for the node of each. */
void folding_extend(struct profile *profile);

/* The node to show for NODE, which may be folded. */
uint32_t folding_shown(const struct profile *profile, uint32_t node);

#endif
