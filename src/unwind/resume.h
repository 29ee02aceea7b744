/* SPDX-License-Identifier: MIT */
/*
 * resume.h -- finishes a walk on the sampler. It learns the rules that are
 * missing, and undoes the frames that have no simple rule on all registers. All
 * unfinished walks are treated alike: those of handlers, of parked threads, and
 * of blocked threads. Of a blocked thread only some registers are known.
 */
#ifndef UNWIND_RESUME_H
#define UNWIND_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "learn.h"
#include "walk.h"

struct resume {
    struct hard_registers origin; /* a frame from which learn_step may walk */
    uint32_t depth;               /* frames that the walk has before it */
    bool is_trial;                /* only a guess */
    /* clock_now if a thread waits, else clock_own */
    uint64_t (*clock)(void);
    uint64_t until; /* by that clock, in ns */
    uint64_t since; /* a map read later is new, CLOCK_MONOTONIC in ns */
};

/* Walk on in VIEW until the stack ends or FINISH->until has come. Returns
 * WALK_ROOT, WALK_CUT or WALK_NEEDS_FP. Returns WALK_NEEDS_MAP if the walk has
 * come to unknown memory, and the module map was read before FINISH->since. The
 * caller then reads the map, and goes on. Context: sampler, in window. */
enum walk_outcome resume_run(const struct resume *finish, struct walk *walk,
                             struct view *view);

/* Cut WALK at the first frame for which the module map is not sure what lay
 * there (modules_are_sure), and leave that frame out. Returns false if it is
 * cut. Context: sampler, in window. */
bool resume_confirm(struct walk *walk, uint64_t time, uint32_t after,
                    uint32_t until);

/* Whether the map must be read now: some time ago a walk needed a reading,
 * which came too early. Until then the rule for the walk's pc is RULE_NOWHERE.
 * Context: sampler. */
bool resume_is_map_late(uint64_t now);

#endif
