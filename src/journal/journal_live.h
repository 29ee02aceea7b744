/* SPDX-License-Identifier: MIT */
/*
 * journal_live.h -- records of the journal for commands that read it while the
 * program runs: starts and stops, answers to requests, and the stacks of all
 * threads. All times are CLOCK_MONOTONIC, in ns.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_LIVE_H
#define JOURNAL_JOURNAL_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

/* Write that sampling began or ended (MARK_START, MARK_STOP) at NOW, for the
 * reason TEXT. */
void journal_live_mark(enum mark_kind mark, const char *text, uint64_t now);

/* Write the answer to the request NONCE: an errno and a text. */
void journal_live_answer(uint32_t nonce, int error, const char *text);

/*
 * journal_live_stacks_begin begins to write the stacks of up to CAPACITY
 * threads, in place of the last ones. Returns the entries that the caller fills
 * in, or NULL if the file has no room.
 *
 * journal_live_stacks_end makes the first COUNT entries valid. They show the
 * time START, and took NS.
 */
struct stacks_entry *journal_live_stacks_begin(uint32_t capacity);
void journal_live_stacks_end(uint32_t nonce, uint32_t count, uint64_t start,
                             uint64_t ns);

#endif
