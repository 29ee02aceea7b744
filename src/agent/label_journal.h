/* SPDX-License-Identifier: MIT */
/*
 * label_journal.h -- writes sets of labels (label_tree.h) into the journal,
 * each once and before what refers to it. Sampler thread alone.
 */
#ifndef AGENT_LABEL_JOURNAL_H
#define AGENT_LABEL_JOURNAL_H

#include <stdint.h>

/* Another journal has begun: nothing is in it yet. */
void label_journal_begin(void);

/* The number of SET in the journal, 0 for 0 and if it could not be written. */
uint32_t label_journal_put(uint32_t set);

#endif
