/* SPDX-License-Identifier: MIT */
/* fill.h -- the walk of a thread's own stack into a slot. */
#ifndef CAPTURE_FILL_H
#define CAPTURE_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sample.h"
#include "slot.h"

/* Walk the stack of the calling thread into SLOT, and give SLOT to the sampler.
 * CONTEXT has the thread's registers. The caller has set the thread and the
 * time in SLOT. HAS_WORDS says whether the thread has thread-local words
 * (base/words.h). May park for PARK_NS. Context: any. */
void fill_slot(struct slot *slot, enum trigger trigger, bool has_words,
               const ucontext_t *context);

/* The calling, new thread was given a stack that begins at START. Other stacks
 * may lie below it in the same memory. Context: hook. */
void fill_know_stack(uint64_t start);

#endif
