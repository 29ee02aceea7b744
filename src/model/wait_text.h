/* SPDX-License-Identifier: MIT */
/* wait_text.h -- what the words for an awaited object tell
 * (process/look.c). */
#ifndef MODEL_WAIT_TEXT_H
#define MODEL_WAIT_TEXT_H

#include <stdint.h>

/* The tid of the thread that must act before the wait is over: 4713 of "mutex
 * of worker-7 (4713)". 0 if TEXT names no thread. */
uint32_t wait_text_holder(const char *text);

#endif
