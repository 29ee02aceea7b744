/* SPDX-License-Identifier: MIT */
/* totals.h -- sums over a whole profile. */
#ifndef READ_TOTALS_H
#define READ_TOTALS_H

#include <stdint.h>

struct spool_load;
struct profile;

/* Add the counters, times and samples of BUILD, whose file was read to its end,
 * to the sums of the profile. */
void totals_add(struct spool_load *load);

/* Note that all processes of PROFILE used TREE_CPU ns of CPU time by the
 * kernel's account. The part that neither they nor the sampler report is kept
 * if it is at least a percent and a millisecond. */
void totals_note_tree(struct profile *profile, uint64_t tree_cpu);

#endif
