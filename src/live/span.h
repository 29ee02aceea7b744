/* SPDX-License-Identifier: MIT */
/*
 * span.h -- what a live view counts: the same values for the latest interval
 * and for all the time. Part of watch.h and functions.h.
 */
#ifndef LIVE_SPAN_H
#define LIVE_SPAN_H

#include <stdint.h>

#include "model/profile.h"

enum span { SPAN_INTERVAL, SPAN_ALL, SPAN_COUNT };

/* The sum of an interval may be negative. A wait that was believed to go on may
 * have ended already; the surplus is then taken back. */
struct span_sums {
    int64_t values[SPAN_COUNT][VALUE_COUNT];
};

/* *TO += VALUE. Numbers of a damaged spool may wrap; the sum is then
 * meaningless. */
static inline void
span_add(int64_t *to, int64_t value)
{
    *to = (int64_t)((uint64_t)*to + (uint64_t)value);
}

static inline void
span_add_sums(struct span_sums *to, const struct span_sums *sums)
{
    for (unsigned i = 0; i < SPAN_COUNT; i++)
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            span_add(&to->values[i][j], sums->values[i][j]);
}

/* End the interval: the next one begins with zeros. */
static inline void
span_begin(struct span_sums *sums)
{
    for (unsigned j = 0; j < VALUE_COUNT; j++)
        sums->values[SPAN_INTERVAL][j] = 0;
}

#endif
