/* SPDX-License-Identifier: MIT */
/* budget.c -- see budget.h. The stride is doubled and halved. */
#include "budget.h"

/* Least ns over which the CPU time is measured, and the longest stride in
 * periods. */
#define WINDOW_NS 100000000u
#define STRIDE_MOST 64u

void
budget_begin(struct budget *budget, uint64_t percent, uint64_t now,
             uint64_t own)
{
    *budget = (struct budget){.percent = percent,
                              .window_end = now + WINDOW_NS,
                              .own = own,
                              .stride = 1};
}

uint32_t
budget_note(struct budget *budget, uint64_t now, uint64_t own, bool is_free)
{
    if (!is_free)
        budget->used += own - budget->own;
    budget->own = own;
    if (now < budget->window_end)
        return budget->stride;
    uint64_t length = now - budget->window_end + WINDOW_NS;
    uint64_t most = length / 100 * budget->percent;
    if (budget->used > most && budget->stride < STRIDE_MOST)
        budget->stride *= 2;
    else if (budget->used < most / 3 && budget->stride > 1)
        budget->stride /= 2;
    budget->used = 0;
    budget->window_end = now + WINDOW_NS;
    return budget->stride;
}
