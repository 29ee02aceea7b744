/* SPDX-License-Identifier: MIT */
/* stack_copy.h -- a copy of a stack. The sampler goes on with the walk in it,
 * and the thread need not wait. */
#ifndef CAPTURE_STACK_COPY_H
#define CAPTURE_STACK_COPY_H

#include <stdbool.h>

#include "slot.h"

/* Copy to the MOST bytes at TO the rest of the stack of SLOT's thread, above
 * the frame where the walk stands. SLOT then tells of the copy. Returns false
 * if there is no whole copy: the stack is too large, or its end is not known. A
 * page that is not in memory becomes bytes that are no code address. Each
 * stretch in memory takes two system calls. The thread itself calls it, or the
 * sampler while that thread is parked. Context: any. */
bool stack_copy(struct slot *slot, uint8_t *to, uint32_t most);

#endif
