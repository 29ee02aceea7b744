/* SPDX-License-Identifier: MIT */
/* fill.h -- the walk of a thread's own stack into a slot, or a copy of the
 * stack in which the sampler goes on with the walk. */
#ifndef CAPTURE_FILL_H
#define CAPTURE_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sample.h"
#include "slot.h"

/* What a thread may remember of its sample: when it gave the slot away
 * (CLOCK_MONOTONIC, ns), and how many frames the slot keeps. */
struct filled {
    uint64_t end;
    uint32_t frames;
};

/* Walk the stack of the calling thread into SLOT, and give SLOT to the sampler.
 * CONTEXT has the thread's registers. The caller has claimed SLOT, and has set
 * the thread and the time in it. HAS_WORDS says whether the thread has
 * thread-local words (base/words.h). May park for PARK_NS. Context: any. */
struct filled fill_slot(struct slot *slot, enum trigger trigger, bool has_words,
                        const ucontext_t *context);

/* Copy to the MOST bytes at TO the rest of the stack of SLOT's thread, above
 * the frame where the walk stands, and what is not far below. SLOT then
 * describes the copy. Returns false if there is no whole copy: the stack is too
 * large, or its end is not known. A page that is not in memory is replaced by
 * bytes that are no code address. Each stretch in memory takes two system
 * calls. The thread is parked. Context: sampler, in window. */
bool fill_copy(struct slot *slot, uint8_t *to, uint32_t most);

/* The calling, new thread has a stack of SIZE bytes or more, which ends at its
 * thread pointer. If START is not 0, the program has supplied the stack, which
 * begins there. Other stacks may lie below it in the same memory. Context:
 * hook. */
void fill_know_stack(uint64_t start, uint64_t size);

#endif
