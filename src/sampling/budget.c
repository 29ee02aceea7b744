/* SPDX-License-Identifier: MIT */
/* budget.c -- see budget.h. The use is taken to be in inverse proportion to the
 * stride. A stride is kept while it uses at least LEAST_PERCENT of what is
 * allowed. */
#include "base/clock.h"
#include "budget.h"

/* Least ns over which the CPU time is measured, and the longest stride in
 * periods. */
#define WINDOW_NS 100000000u
#define STRIDE_MOST 64u

#define LEAST_PERCENT 75u

/* 1 / FLOOR of one CPU is left to the sampler whatever the threads do. */
#define FLOOR 400u

void
budget_begin(struct budget *budget, uint64_t percent, uint64_t allowed,
             uint64_t now, uint64_t own, uint64_t process)
{
    *budget = (struct budget){.percent = percent,
                              .allowed = allowed,
                              .credit = allowed,
                              .window_end = now + WINDOW_NS,
                              .own = own,
                              .threads = process - own,
                              .stride = 1};
}

/* Returns the limit of use in a window of LENGTH ns in which the threads ran
 * for RAN. */
static uint64_t
allowance(struct budget *budget, uint64_t length, uint64_t ran)
{
    uint64_t most = length / 100 * budget->percent;
    if (budget->allowed == 0)
        return most;
    uint64_t share =
        (uint64_t)((__uint128_t)ran * budget->allowed / NS_PER_SECOND);
    if (share < length / FLOOR)
        share = length / FLOOR;
    if (share >= most)
        return most;
    if (budget->credit == 0)
        return share;
    uint64_t over = budget->used > share ? budget->used - share : 0;
    budget->credit -= over < budget->credit ? over : budget->credit;
    return most;
}

/* Returns the stride that follows STRIDE, which used USED of MOST: from half of
 * it to twice as long. */
static uint32_t
next_stride(uint32_t stride, uint64_t used, uint64_t most)
{
    uint64_t wanted =
        most != 0 ? (stride * used + most - 1) / most : STRIDE_MOST;
    uint64_t longest = stride < STRIDE_MOST / 2 ? 2 * stride : STRIDE_MOST;
    uint64_t shortest = (stride + 1) / 2;
    if (used <= most && used >= most / 100 * LEAST_PERCENT)
        return stride;
    wanted = wanted < longest ? wanted : longest;
    return (uint32_t)(wanted > shortest ? wanted : shortest);
}

uint32_t
budget_note(struct budget *budget, uint64_t now, uint64_t own, uint64_t process,
            bool is_free)
{
    if (!is_free)
        budget->used += own - budget->own;
    budget->own = own;
    if (now < budget->window_end)
        return budget->stride;
    uint64_t length = now - budget->window_end + WINDOW_NS;
    uint64_t threads = process - own;
    uint64_t most = allowance(budget, length, threads - budget->threads);
    budget->stride = next_stride(budget->stride, budget->used, most);
    budget->used = 0;
    budget->threads = threads;
    budget->window_end = now + WINDOW_NS;
    return budget->stride;
}
