/* SPDX-License-Identifier: MIT */
/* sum.h -- sums that stop at a limit instead of wrapping. The formats have
 * signed values, so the limit is INT64_MAX. Pure functions. */
#ifndef UTIL_SUM_H
#define UTIL_SUM_H

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

#endif
