/* SPDX-License-Identifier: MIT */
/*
 * budget.h -- keeps the sampler's own CPU time within a share of one CPU by
 * making ticks rarer. A tick then stands for a longer time, so sums stay right.
 * The cost in the threads that are asked is not counted, nor is the first look
 * at a thread. These are pure functions.
 * Context: sampler.
 */
#ifndef SAMPLING_BUDGET_H
#define SAMPLING_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
    uint64_t percent;    /* of one CPU */
    uint64_t window_end; /* CLOCK_MONOTONIC */
    uint64_t used;       /* ns in this window */
    uint64_t own;        /* CPU clock at the last tick */
    uint32_t stride;     /* least number of periods that a tick stands for */
};

/* Begin at NOW, when the sampler's CPU clock reads OWN (both ns), with a budget
 * of PERCENT of one CPU. */
void budget_begin(struct budget *budget, uint64_t percent, uint64_t now,
                  uint64_t own);

/* A tick is over, and the sampler's CPU clock reads OWN at NOW. If IS_FREE, the
 * tick is not counted. Returns how many periods the next tick must stand for.
 */
uint32_t budget_note(struct budget *budget, uint64_t now, uint64_t own,
                     bool is_free);

#endif
