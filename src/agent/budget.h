/* SPDX-License-Identifier: MIT */
/*
 * budget.h -- keeps the sampler's own CPU time within a share of one CPU by
 * making ticks rarer; what a tick then stands for is longer, so that sums stay
 * right. What asked threads cost is not counted, nor the first look at a
 * thread. Pure, sampler thread.
 */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
    uint64_t percent;    /* of one CPU */
    uint64_t window_end; /* CLOCK_MONOTONIC */
    uint64_t used;       /* ns in this window */
    uint64_t own;        /* CPU clock at the last tick */
    uint32_t stride;     /* periods that a tick must stand for, at least */
};

void budget_begin(struct budget *budget, uint64_t percent, uint64_t now,
                  uint64_t own);

/* A tick is over: the sampler's CPU clock reads OWN at NOW. IS_FREE: it is not
 * counted. Returns how many periods the next one must stand for. */
uint32_t budget_note(struct budget *budget, uint64_t now, uint64_t own,
                     bool is_free);

#endif
