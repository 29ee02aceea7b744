/* SPDX-License-Identifier: MIT */
/*
 * share.h -- sums that stop at a limit instead of wrapping, and shares of CPU
 * time to the nanosecond. The formats have signed values, so the limit is
 * INT64_MAX. Pure functions.
 *
 * Shares are taken in order, by running sums. A share is the time due to all up
 * to here, minus the time due to all before. So every share is right to a
 * nanosecond, and together they are exact.
 */
#ifndef UTIL_SHARE_H
#define UTIL_SHARE_H

#include <stdint.h>

/* Add VALUE to *SUM, which stops at INT64_MAX. VALUE is compared first, so the
 * difference does not wrap. */
static inline void
sum_add(uint64_t *sum, uint64_t value)
{
    if (value > INT64_MAX || *sum > INT64_MAX - value)
        *sum = INT64_MAX;
    else
        *sum += value;
}

struct share {
    uint64_t due;    /* ns of CPU time */
    uint64_t weight; /* sum of all weights */
    uint64_t passed; /* weight of those that have their share */
};

/* The CPU time of all shares up to here. Products have 128 bits, so none is too
 * large. Sums that stop at their limit do no harm: the last of them is
 * still the whole. */
static inline uint64_t
share_due(const struct share *share)
{
    __extension__ unsigned __int128 product = share->due;
    return share->weight == 0
               ? 0
               : (uint64_t)(product * share->passed / share->weight);
}

/* Returns the share of the next one, with WEIGHT, in ns. 0 if all weights
 * are 0. */
static inline uint64_t
share_take(struct share *share, uint64_t weight)
{
    uint64_t before = share_due(share);
    sum_add(&share->passed, weight);
    return share_due(share) - before;
}

#endif
