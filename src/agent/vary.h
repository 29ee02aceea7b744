/* SPDX-License-Identifier: MIT */
/*
 * vary.h -- when perf's period changes, and to what, so that it cannot fall
 * into step with the program. The change begins the main thread's period anew:
 * half of one is lost on the average, and all samples of a thread that never
 * runs for a whole period in between. So there are periods of its CPU time
 * between two changes, and the rate is raised by what they cost. Pure
 * functions; sampler thread.
 */
#ifndef AGENT_VARY_H
#define AGENT_VARY_H

#include <stdbool.h>
#include <stdint.h>

struct vary {
    uint64_t period;   /* ns of CPU time between two samples, on the average */
    uint64_t changed;  /* CLOCK_MONOTONIC of the last change, ns */
    uint64_t cpu;      /* the main thread's CPU clock by then, ns */
    uint64_t mirrored; /* the rate that makes up for the last, 0: none */
};

/* Before the first change, for samples every PERIOD ns. */
void vary_begin(struct vary *vary, uint64_t period);

/* Whether at NOW so much time has passed that vary_next is worth a look at the
 * clock; HAS_NEW: threads were made since, each of which keeps the period of
 * its moment. */
bool vary_is_time(const struct vary *vary, uint64_t now, bool has_new);

/* The period from NOW on, where the main thread's CPU clock reads CPU
 * (CLOCK_NONE: it has none) and RANDOM is any number: up to 1 / SPREAD of the
 * rate to either side. 0 if it stays. */
uint64_t vary_next(struct vary *vary, uint64_t now, uint64_t cpu, bool has_new,
                   uint64_t spread, uint64_t random);

#endif
