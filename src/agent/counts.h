/* SPDX-License-Identifier: MIT */
/*
 * counts.h -- writes the sums of the account into the journal: what was asked,
 * taken and lost so far, and what it cost. Context: sampler.
 */
#ifndef AGENT_COUNTS_H
#define AGENT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

/* Nothing is counted yet. */
void counts_begin(void);

/* At NOW the journal goes on in another file: write the sums of this one, and
 * count from there on. */
void counts_turn(uint64_t now);

/* After a tick at the time NOW, or (IS_LAST) after all. */
void counts_publish(uint64_t now, bool is_last);

/* For REASON nothing more will come: the last sums and the summary, or, without
 * a sample, nothing, because the file is about to be removed; but with
 * KEEPS_ALL it stays. */
void counts_end(enum end_reason reason, bool keeps_all);

#endif
