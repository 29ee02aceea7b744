/* SPDX-License-Identifier: MIT */
/*
 * points.h -- a tick's look at the threads: who ran, who waits, where. Threads
 * that ran lately are looked at in every tick; of the others only as many as
 * are needed to explain the CPU time that the process used. Sampler thread
 * alone.
 */
#ifndef AGENT_POINTS_H
#define AGENT_POINTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a tick saw. */
struct points_view {
    bool ran;     /* some thread ran since the last tick */
    bool changes; /* some thread ran for a part of the time, or is new: the next
                   * tick should come soon */
    uint32_t asked;
    uint32_t first_looks; /* at threads that were not looked at before */
};

/* Nothing is known yet. */
void points_begin(void);

/* Look at the threads at time NOW; RANDOM is any number. THRIFT is how many
 * times fewer of them than a tick may do: what it leaves out, others will see,
 * each in its turn by chance. */
void points_look(uint64_t now, uint64_t random, uint32_t thrift,
                 struct points_view *view);

/* CPU time of threads that came and went unseen explains as much. */
void points_explain(uint64_t cpu);

#endif
