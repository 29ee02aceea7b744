/* SPDX-License-Identifier: MIT */
/* share.c -- shares by running sums. Products have 128 bits, so no product of
 * two sums is too large. */
#include "sum.h"
#include "share.h"

/* The CPU time of all shares up to here. Sums that stop at their limit
 * (sum.h) do no harm: the last of them is still the whole. */
static uint64_t
time_due(const struct share *share)
{
    __extension__ unsigned __int128 product = share->due;
    return share->weight == 0
               ? 0
               : (uint64_t)(product * share->passed / share->weight);
}

uint64_t
share_take(struct share *share, uint64_t weight)
{
    uint64_t before = time_due(share);
    sum_add(&share->passed, weight);
    return time_due(share) - before;
}
