/* SPDX-License-Identifier: MIT */
/*
 * pool.h -- shares CPU time out to the nanosecond.
 *
 * Shares are taken in order, by running sums. A share is the time due to all up
 * to here, minus the time due to all before. So every share is right to a
 * nanosecond, and together they are exact.
 */
#ifndef UTIL_POOL_H
#define UTIL_POOL_H

#include <stdint.h>

struct pool {
    uint64_t due;    /* ns of CPU time */
    uint64_t weight; /* sum of all weights */
    uint64_t passed; /* weight of those that have their share */
};

/* Returns the share of the next one, with WEIGHT, in ns. 0 if all weights
 * are 0. */
uint64_t pool_take(struct pool *pool, uint64_t weight);

#endif
