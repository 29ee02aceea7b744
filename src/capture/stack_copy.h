/* SPDX-License-Identifier: MIT */
/* stack_copy.h -- a copy of the stack, on which a walk goes on without its
 * thread. */
#ifndef CAPTURE_STACK_COPY_H
#define CAPTURE_STACK_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"
#include "view.h"

/* Copy into SLOT what is left of the stack above the frame where its walk
 * stands, which VIEW has read so far; ROOT is where the stacks of this thread
 * were seen to end, 0 if that is not known. False if there is no whole copy:
 * the stack is too large, or its end is not known. A page that is not in
 * memory reads as no code. Context: handler, on the thread whose stack it is;
 * two system calls for each stretch that is in memory. */
bool stack_copy(struct slot *slot, const struct view *view, uint64_t root);

#endif
