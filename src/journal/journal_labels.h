/* SPDX-License-Identifier: MIT */
/*
 * journal_labels.h -- writes sets of labels (label_tree.h) into the journal:
 * each set once, and before the records that refer to it.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_LABELS_H
#define JOURNAL_JOURNAL_LABELS_H

#include <stdint.h>

/* Returns the number of SET in the journal: 0 if SET is 0 or could not be
 * written. */
uint32_t journal_labels_put(uint32_t set);

#endif
