/* SPDX-License-Identifier: MIT */
/* text_ids.h -- numbers texts: the same text has the same number.
 * Context: sampler. */
#ifndef JOURNAL_TEXT_IDS_H
#define JOURNAL_TEXT_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* Forget all texts; numbers begin at 1. Returns 0, or -1 if memory is short. */
int text_ids_begin(void);

/* Returns the number of TEXT; *IS_NEW says that the text was added. Returns 0
 * if there are too many texts. */
uint32_t text_ids_of(const char *text, bool *is_new);

#endif
