/* SPDX-License-Identifier: MIT */
/* pool.c -- shares by running sums, in 128 bits: no product of two sums is too
 * large. */
#include "pool.h"

#include "profile.h"

/* What those up to here have to get. Sums that stop at their limit (profile.h)
 * do no harm: the last of them is still the whole. */
static uint64_t
part(const struct pool *pool)
{
    __extension__ unsigned __int128 product = pool->due;

    return pool->weight == 0
               ? 0
               : (uint64_t)(product * pool->passed / pool->weight);
}

uint64_t
pool_take(struct pool *pool, uint64_t weight)
{
    uint64_t before = part(pool);

    profile_sum(&pool->passed, weight);
    return part(pool) - before;
}
