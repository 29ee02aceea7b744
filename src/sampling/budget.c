/* SPDX-License-Identifier: MIT */
/* budget.c -- see budget.h. The stride is doubled and halved. */
#include "base/clock.h"
#include "budget.h"

/* Least ns over which the CPU time is measured, and the longest stride in
 * periods. */
#define WINDOW_NS 100000000u
#define STRIDE_MOST 64u

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

/* Returns what may be used in a window of LENGTH ns in which the threads ran
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
    if (budget->used > most && budget->stride < STRIDE_MOST)
        budget->stride *= 2;
    else if (budget->used < most / 3 && budget->stride > 1)
        budget->stride /= 2;
    budget->used = 0;
    budget->threads = threads;
    budget->window_end = now + WINDOW_NS;
    return budget->stride;
}
