/* SPDX-License-Identifier: MIT */
/*
 * share.h -- shares CPU time out to the nanosecond.
 *
 * Shares are taken in order, by running sums. A share is the time due to all up
 * to here, minus the time due to all before. So every share is right to a
 * nanosecond, and together they are exact.
 */
#ifndef UTIL_SHARE_H
#define UTIL_SHARE_H

#include <stdint.h>

struct share {
    uint64_t due;    /* ns of CPU time */
    uint64_t weight; /* sum of all weights */
    uint64_t passed; /* weight of those that have their share */
};

/* Returns the share of the next one, with WEIGHT, in ns. 0 if all weights
 * are 0. */
uint64_t share_take(struct share *share, uint64_t weight);

#endif
