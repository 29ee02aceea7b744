/* SPDX-License-Identifier: MIT */
/* text_ids.h -- numbers texts: the same text has the same number. Sampler
 * thread alone. */
#ifndef AGENT_TEXT_IDS_H
#define AGENT_TEXT_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* Forget all; numbers begin at 1. Returns 0, or -1 if memory is short. */
int text_ids_begin(void);

/* The number of TEXT; *IS_NEW if it had none. 0 if there are too many. */
uint32_t text_ids_of(const char *text, bool *is_new);

#endif
