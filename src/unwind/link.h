/* SPDX-License-Identifier: MIT */
/*
 * link.h -- finds the caller of a function that still has its return address in
 * a register, which the kernel does not show for a thread that waits. If calls
 * leave the return address on the stack, it finds nothing.
 */
#ifndef UNWIND_LINK_H
#define UNWIND_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct view;
struct walk;

/* Set *LINK to the return address of the frame where WALK stands. Returns false
 * if none is found, or if it could be another. Context: sampler. */
bool link_find(const struct walk *walk, struct view *view, uint64_t *link);

#endif
