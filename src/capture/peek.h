/* SPDX-License-Identifier: MIT */
/*
 * peek.h -- the stack of a thread that is blocked in a system call, walked
 * without a signal. Of its registers the kernel tells pc, sp and those with the
 * arguments of the call (/proc/self/task/TID/syscall); rbp is found where a
 * frame needs it. Whether the thread has stayed where it was is for the caller
 * to check afterwards.
 */
#ifndef CAPTURE_PEEK_H
#define CAPTURE_PEEK_H

#include <stdint.h>

#include "walk.h"

/* Reserve what peeks need. Returns 0, or -1 if memory is short. Called again
 * (after fork): the same memory. */
int peek_begin(void);

/*
 * Walk the stack of a thread that stands at PC with stack pointer SP into WALK,
 * whose frames and capacity the caller has set. ARGUMENTS are the six of the
 * system call that it waits in, NULL if it is none. Returns WALK_ROOT if the
 * stack is complete, or WALK_CUT with the reason in walk->cut. Every frame is
 * certain: where there are two ways to go on, the walk is cut (CUT_NO_RULE).
 * Never faults, whatever becomes of the thread, and takes no more than some
 * milliseconds of CPU. Context: sampler, no thread parked. Locks: none.
 */
enum walk_outcome peek_stack(uint64_t pc, uint64_t sp,
                             const uint64_t *arguments, struct walk *walk);

#endif
