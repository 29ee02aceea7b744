/* SPDX-License-Identifier: MIT */
/* totals.h -- sums over all of a profile. */
#ifndef PROFILE_TOTALS_H
#define PROFILE_TOTALS_H

struct build;

/* BUILD has all that its file tells: let its counters, times and samples count
 * in the profile. */
void totals_add(struct build *build);

#endif
