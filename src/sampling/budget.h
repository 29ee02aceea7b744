/* SPDX-License-Identifier: MIT */
/*
 * budget.h -- keeps the sampler's own CPU time within a share of one CPU, and
 * within a share of what the threads use, by making ticks rarer. A tick then
 * stands for a longer time, so sums stay right. The cost in the threads that
 * are asked and the first look at a thread are not counted. These are pure
 * functions.
 *
 * The share of what the threads use begins after a CREDIT is spent, so that a
 * short run is looked at closely. It is never less than 1/400 of one CPU. So a
 * process that waits is looked at, too.
 * Context: sampler.
 */
#ifndef SAMPLING_BUDGET_H
#define SAMPLING_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
    uint64_t percent;    /* of one CPU */
    uint64_t allowed;    /* ns in a CPU second of the threads; 0: any */
    uint64_t credit;     /* ns that may be used beyond that share */
    uint64_t window_end; /* CLOCK_MONOTONIC */
    uint64_t used;       /* ns in this window */
    uint64_t own;        /* CPU clock at the last tick */
    uint64_t threads;    /* CPU clock of the threads when the window began */
    uint32_t stride;     /* least number of periods that a tick stands for */
};

/* Begin at NOW, when the CPU clocks of the sampler and of the process read OWN
 * and PROCESS (all ns), with a budget of PERCENT of one CPU, and ALLOWED as in
 * struct budget. */
void budget_begin(struct budget *budget, uint64_t percent, uint64_t allowed,
                  uint64_t now, uint64_t own, uint64_t process);

/* A tick is over, and the CPU clocks of the sampler and of the process read OWN
 * and PROCESS at NOW. If IS_FREE, the tick is not counted. Returns how many
 * periods the next tick must stand for. */
uint32_t budget_note(struct budget *budget, uint64_t now, uint64_t own,
                     uint64_t process, bool is_free);

#endif
