/* SPDX-License-Identifier: MIT */
/* stack_copy.h -- a copy of a stack. The sampler goes on with the walk in it,
 * and the thread need not wait. */
#ifndef CAPTURE_STACK_COPY_H
#define CAPTURE_STACK_COPY_H

#include <stdbool.h>

#include "slot.h"

/* Copy into SLOT the rest of its thread's stack, above the frame where the walk
 * stands. Returns false if there is no whole copy: the stack is too large, or
 * its end is not known. A page that is not in memory becomes bytes that are no
 * code address. Each stretch in memory takes two system calls. The thread
 * itself calls it, or the sampler while that thread is parked. Context: any. */
bool stack_copy(struct slot *slot);

#endif
