/* SPDX-License-Identifier: MIT */
/*
 * pool.h -- CPU time that is shared out to the nanosecond. Shares are taken in
 * order, by sums: a share is what all up to here have to get, less what all
 * before here got. So every share is right to a nanosecond, and together they
 * are exact.
 */
#ifndef PROFILE_POOL_H
#define PROFILE_POOL_H

#include <stdint.h>

struct pool {
    uint64_t due;    /* ns of CPU time */
    uint64_t weight; /* of all that share it */
    uint64_t passed; /* of those that have their share */
};

/* The share of the next, who has WEIGHT. 0 if nobody has any. */
uint64_t pool_take(struct pool *pool, uint64_t weight);

#endif
