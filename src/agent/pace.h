/* SPDX-License-Identifier: MIT */
/*
 * pace.h -- when to look: one instant drawn uniformly at random in every
 * period, or in every few, so that the profile is unbiased and cannot lock to a
 * periodic program. Sampler thread alone.
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

/* The next instant, as of NOW: in the STRIDE periods after the last ones, or in
 * those from the present one on if some were missed. */
uint64_t pace_next(struct pace *pace, uint64_t now, uint32_t stride);

/* At NOW something happened: let the next instant be in the next period. */
void pace_hurry(struct pace *pace, uint64_t now);

/* Until NOW nothing could happen: periods begin anew then, so that no instant
 * is drawn that has passed. */
void pace_shift(struct pace *pace, uint64_t now);

/* A random number below LIMIT (> 0). */
uint64_t pace_random(struct pace *pace, uint64_t limit);

#endif
