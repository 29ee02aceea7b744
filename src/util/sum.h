/* SPDX-License-Identifier: MIT */
/* sum.h -- sums that stop at a limit instead of wrapping. The formats have
 * signed values, so the limit is INT64_MAX. Pure functions. */
#ifndef UTIL_SUM_H
#define UTIL_SUM_H

#include <stdint.h>

/* Add VALUE to *SUM, which stops at INT64_MAX. */
void sum_add(uint64_t *sum, uint64_t value);

#endif
