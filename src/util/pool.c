/* SPDX-License-Identifier: MIT */
/* pool.c -- shares by running sums. Products have 128 bits, so no product of
 * two sums is too large. */
#include "sum.h"
#include "pool.h"

/* The CPU time of all shares up to here. Sums that stop at their limit
 * (sum.h) do no harm: the last of them is still the whole. */
static uint64_t
time_due(const struct pool *pool)
{
    __extension__ unsigned __int128 product = pool->due;
    return pool->weight == 0
               ? 0
               : (uint64_t)(product * pool->passed / pool->weight);
}

uint64_t
pool_take(struct pool *pool, uint64_t weight)
{
    uint64_t before = time_due(pool);
    sum_add(&pool->passed, weight);
    return time_due(pool) - before;
}
