/* SPDX-License-Identifier: MIT */
/*
 * counts.h -- writes the sums of all thread times into the journal: the samples
 * that were asked for, taken and lost so far, and their cost.
 * Context: sampler.
 */
#ifndef SAMPLING_COUNTS_H
#define SAMPLING_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

/* The journal is rotated at NOW: write the sums of the present file, and count
 * for the next file from here on. */
void counts_rotate(uint64_t now);

/* Write the sums after a tick at the time NOW, or (IS_LAST) after the last one.
 */
void counts_publish(uint64_t now, bool is_last);

/* End the profile for REASON: write the last sums and the summary. A profile
 * without samples is written only with KEEPS_ALL: otherwise its file is about
 * to be removed. */
void counts_end(enum end_reason reason, bool keeps_all);

#endif
