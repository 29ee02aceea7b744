/* SPDX-License-Identifier: MIT */
/*
 * finish.h -- finishes a walk on the sampler: learns the rules that are missing
 * and has libunwind undo the frames that have no simple one. One way for all
 * walks: those that a handler left behind, those of parked threads, and those
 * of blocked threads, of which only two registers are known.
 */
#ifndef CAPTURE_FINISH_H
#define CAPTURE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "learn.h"
#include "walk.h"

struct finish {
    struct learn_origin origin; /* a frame from which libunwind may walk */
    uint32_t depth;             /* frames that the walk has before it */
    bool is_trial;              /* a guess: not worth a new module map */
    uint64_t (*clock)(void);    /* clock_now if a thread waits; or clock_own */
    uint64_t until;             /* by that clock */
};

/* REFRESH reads the module map anew: see suspend_options. */
void finish_begin(void (*refresh)(void));

/* Read the module map anew if it is not settled. Context: sampler. */
void finish_settle(void);

/* Walk on in VIEW until the stack ends or FINISH->until has come. Returns
 * WALK_ROOT, WALK_CUT or WALK_NEEDS_FP. Context: sampler, in window. */
enum walk_outcome finish_run(const struct finish *finish, struct walk *walk,
                             struct view *view);

#endif
