/* SPDX-License-Identifier: MIT */
/*
 * observe.h -- a tick's look at the threads: which run, which wait, and where.
 * Threads that ran lately are looked at in every tick. Of the others, only
 * enough are looked at to explain the CPU time that the process used.
 * Context: sampler.
 */
#ifndef SAMPLING_OBSERVE_H
#define SAMPLING_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

/* What a tick saw. */
struct observe_view {
    bool ran;     /* some thread ran since the last tick */
    bool changes; /* a thread ran for a part of the time, or is new: the next
                     tick should come soon */
    bool waits;   /* a thread waited for a part of the time, be it small */
    uint32_t asked;
    uint32_t first_looks; /* looks at threads that were not looked at before */
    uint64_t own;         /* CPU ns of the sampler */
};

/* Begin: nothing is known of the threads yet. */
void observe_begin(void);

/* Look at the threads at the time NOW. RANDOM is any number. The tick looks at
 * THRIFT times fewer threads than it could; each of the others is seen in a
 * later tick, by chance. */
void observe_threads(uint64_t now, uint64_t random, uint32_t thrift,
                     struct observe_view *view);

/* CPU ns of the process are explained by threads that came and went unseen. */
void observe_explain(uint64_t cpu);

#endif
