/* SPDX-License-Identifier: MIT */
/* journal_labels.h -- writes the labels of samples into the journal. */
#ifndef JOURNAL_JOURNAL_LABELS_H
#define JOURNAL_JOURNAL_LABELS_H

#include <stdint.h>

/* Write SET and the sets below it, unless the file has them. Returns the number
 * of SET in the journal: 0 if SET is 0 or could not be written.
 * Context: sampler. */
uint32_t journal_labels(uint32_t set);

#endif
