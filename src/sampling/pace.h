/* SPDX-License-Identifier: MIT */
/*
 * pace.h -- decides when the sampler looks: at one instant in every period, or
 * in every few periods, drawn uniformly at random. So the profile is unbiased
 * and cannot lock to a periodic program.
 * Context: sampler.
 */
#ifndef SAMPLING_PACE_H
#define SAMPLING_PACE_H

#include <stdint.h>

struct pace {
    uint64_t start, period; /* ns */
    uint64_t index;         /* start of the period whose instant comes next */
    uint64_t random;        /* state of the generator */
};

/* Begin at START (CLOCK_MONOTONIC ns) with periods of PERIOD ns. */
void pace_begin(struct pace *pace, uint64_t start, uint64_t period,
                uint64_t seed);

/* Returns the next instant, seen from NOW. It lies in the STRIDE periods after
 * the last ones. If some were missed, the STRIDE periods begin with the present
 * one. */
uint64_t pace_next(struct pace *pace, uint64_t now, uint32_t stride);

/* An event at NOW: draw the next instant from the next period. */
void pace_hurry(struct pace *pace, uint64_t now);

/* Until NOW no look was possible: begin the periods anew, so that no past
 * instant is drawn. */
void pace_shift(struct pace *pace, uint64_t now);

/* Returns a random number below LIMIT (> 0). */
uint64_t pace_random(struct pace *pace, uint64_t limit);

#endif
