/* SPDX-License-Identifier: MIT */
/* sum.c -- see sum.h. */
#include "sum.h"

/* VALUE is compared first, so the difference does not wrap. */
void
sum_add(uint64_t *sum, uint64_t value)
{
    if (value > INT64_MAX || *sum > INT64_MAX - value)
        *sum = INT64_MAX;
    else
        *sum += value;
}
