/* SPDX-License-Identifier: MIT */
/*
 * peek.h -- walks the stack of a thread that is blocked in a system call,
 * without a signal. Of its registers the kernel shows pc, sp and those with the
 * arguments of the call (/proc/self/task/TID/syscall). fp is found where a
 * frame needs it. The caller checks afterwards whether the thread has not
 * moved.
 */
#ifndef UNWIND_PEEK_H
#define UNWIND_PEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "walk.h"

/* Reserve the memory that peeks need. Returns 0, or -1 if memory is short. A
 * second call, after fork, keeps the same memory. Context: sampler. */
int peek_begin(void);

/* A copy of a stack from START on, in the memory of peeks. LENGTH is 0 without
 * one. */
struct peek_copy {
    uint64_t start;
    uint32_t length;  /* bytes */
    uint32_t unloads; /* the last unload before (process/unloads.h) */
    bool was_enough;  /* the last peek read nothing else */
};

/* Copy the stack from SP on, as far as it is in memory and 16 KiB at most.
 * Takes some us. Context: sampler. */
void peek_copy(uint64_t sp, struct peek_copy *copy);

/* WALK stands in a caller that is found by fp, which one of its callees has
 * overwritten (WALK_NEEDS_FP). From now on use the rule by sp there, if code
 * shows a frame of fixed size and VIEW has a return address in it. Returns
 * whether WALK can go on. Context: sampler, in window. */
bool peek_find_by_sp(struct walk *walk, struct view *view);

/*
 * Walk the stack of a thread that stands at AT into WALK. The part in COPY is
 * read there: the thread may have gone on meanwhile. COPY may be NULL. The fp
 * of AT may be REGS_FP_UNKNOWN. The caller has set the frames, the capacity and
 * the script of WALK. ARGUMENTS are the six of the system call in which the
 * thread waits; NULL: none.
 *
 * Returns WALK_ROOT if the stack is complete, or WALK_CUT with the reason in
 * walk->cut. Every frame is certain: if two ways are possible, the walk is cut
 * (CUT_NO_RULE). It never faults, whatever the thread does. It takes no more
 * than some milliseconds of CPU time, and no lock.
 *
 * Returns WALK_NEEDS_MAP if the walk has come to unknown memory, and the module
 * map was read before SINCE (CLOCK_MONOTONIC, ns). The caller then reads the
 * map, and calls again. Context: sampler.
 */
enum walk_outcome peek_stack(const struct regs *at, const uint64_t *arguments,
                             struct peek_copy *copy, uint64_t since,
                             struct walk *walk);

#endif
