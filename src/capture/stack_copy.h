/* SPDX-License-Identifier: MIT */
/* stack_copy.h -- a copy of a stack. The sampler goes on with the walk in it,
 * and the thread need not wait. */
#ifndef CAPTURE_STACK_COPY_H
#define CAPTURE_STACK_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/view.h"
#include "slot.h"

/* Copy into SLOT the rest of the calling thread's stack, above the frame where
 * the walk stands. VIEW is what the walk has read so far. ROOT is where the
 * stacks of this thread were seen to end, or 0 if that is not known. Returns
 * false if there is no whole copy: the stack is too large, or its end is not
 * known. A page that is not in memory becomes bytes that are no code address.
 * Each stretch in memory takes two system calls. Context: handler. */
bool stack_copy(struct slot *slot, const struct view *view, uint64_t root);

#endif
