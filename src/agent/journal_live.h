/* SPDX-License-Identifier: MIT */
/*
 * journal_live.h -- records of the journal for those who look at it while the
 * program runs: starts and stops, answers to requests, and the stacks of all
 * threads. Sampler thread alone; times are CLOCK_MONOTONIC.
 */
#ifndef AGENT_JOURNAL_LIVE_H
#define AGENT_JOURNAL_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

/* A new journal has begun. */
void journal_live_begin(void);

/* Sampling began or ended (MARK_START, MARK_STOP) at NOW, for what TEXT says.
 */
void journal_live_mark(enum mark_kind mark, const char *text, uint64_t now);

/* What became of the request NONCE: errno and text. */
void journal_live_answer(uint32_t nonce, int error, const char *text);

/*
 * Begin to write the stacks of up to CAPACITY threads, in place of the last
 * ones: the entries to be filled in, or NULL if there is no room in the file.
 * journal_live_stacks_end makes the first COUNT of them valid: they are of the
 * time START, and took NS.
 */
struct stacks_entry *journal_live_stacks_begin(uint32_t capacity);
void journal_live_stacks_end(uint32_t nonce, uint32_t count, uint64_t start,
                             uint64_t ns);

#endif
