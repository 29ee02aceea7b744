/* SPDX-License-Identifier: MIT */
/*
 * afford.h -- changes the rate so that sampling costs no more than SPROF_COST.
 * The cost has three parts. The time in the handler is measured at each sample.
 * The sampler's own CPU time is measured, too. The cost of an interruption
 * outside the handler cannot be measured in the program. It is estimated from a
 * measured loop (event_cost.h). The account is in cost.h.
 *
 * While a reader follows the spool (journal_is_followed), the rate is the
 * wanted one, unless a cost was given. The extra cost is not paid back later.
 *
 * At each change of the rate an epoch begins (epoch.h). The sampler then writes
 * the new rate and the clocks of the threads into the spool.
 * Context: sampler.
 */
#ifndef SAMPLING_AFFORD_H
#define SAMPLING_AFFORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"

/* Begin with the rate that was asked for, and with an empty account. A forked
 * child may at once spend only what its parent has left (cost.h).
 * Context: start. */
void afford_begin(const struct settings *settings);

/* A session begins. The sampler's CPU clock reads OWN. */
void afford_start(uint64_t own);

/* A tick ends at NOW. The sampler's CPU clock reads OWN. IS_BUSY: each thread
 * ran all the time or not at all, so the tick was made for samples alone.
 * Returns whether the rate was changed. If so, the caller makes each thread's
 * trigger ready anew. RANDOM is any number. */
bool afford_tick(uint64_t now, uint64_t own, bool is_busy, uint64_t random);

/* Write the account so far into the journal. */
void afford_publish(void);

/* The journal is rotated at NOW. Write the present epoch into the new file. */
void afford_rotate(uint64_t now);

#endif
