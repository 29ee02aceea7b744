/* SPDX-License-Identifier: MIT */
/*
 * pace.h -- when to sample: one instant drawn uniformly at random in every
 * period, so that the profile is unbiased and cannot lock to a periodic
 * program. Sampler thread alone.
 */
#ifndef AGENT_PACE_H
#define AGENT_PACE_H

#include <stdint.h>

struct pace {
    uint64_t start, period; /* ns */
    uint64_t index;         /* of the period whose instant comes next */
    uint64_t random;        /* state of the generator */
};

/* Begin at START (CLOCK_MONOTONIC ns) with PERIOD ns. */
void pace_begin(struct pace *pace, uint64_t start, uint64_t period,
                uint64_t seed);

/* The next instant, as of NOW: in the period after the last, or in the present
 * one if some were missed. *PERIODS is how many it stands for. */
uint64_t pace_next(struct pace *pace, uint64_t now, uint64_t *periods);

/* A random number below LIMIT (> 0). */
uint64_t pace_random(struct pace *pace, uint64_t limit);

#endif
