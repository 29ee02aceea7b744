/* SPDX-License-Identifier: MIT */
/* wait_text.h -- finds a thread in the words for what a thread waits for
 * (process/look.c). */
#ifndef MODEL_WAIT_TEXT_H
#define MODEL_WAIT_TEXT_H

#include <stdint.h>

/* Returns the tid of the thread that must act to end the wait: 4713 of "mutex
 * of worker-7 (4713)". Returns 0 if TEXT names no thread. */
uint32_t wait_text_holder(const char *text);

#endif
