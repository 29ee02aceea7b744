/* SPDX-License-Identifier: MIT */
/*
 * afford.h -- keeps what sampling costs within SPROF_COST, by the rate. The
 * cost of a sample has three parts. The time in the handler is measured at each
 * sample. The sampler's own CPU time is measured, too. What an interruption
 * costs beside the handler cannot be seen from inside, and is modelled
 * (event_cost.h). cost.h has the account.
 *
 * At each change of the rate an epoch begins (epoch.h). The spool then has its
 * rate, and what each thread's clock reads.
 * Context: sampler.
 */
#ifndef SAMPLING_AFFORD_H
#define SAMPLING_AFFORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"

/* Begin with the rate that was asked for, and with an empty account. In the
 * child of a fork the account goes on.
 * Context: start. */
void afford_begin(const struct settings *settings);

/* The sampler's CPU clock reads OWN when a session begins. */
void afford_start(uint64_t own);

/* A tick is over at NOW, when the sampler's CPU clock reads OWN. IS_BUSY: the
 * tick found that all threads that run do nothing else; then it was made for
 * samples alone. Returns whether the rate was changed; the threads are then to
 * be given their trigger anew. RANDOM is any number. */
bool afford_tick(uint64_t now, uint64_t own, bool is_busy, uint64_t random);

/* Write the account so far into the journal. */
void afford_publish(void);

/* The journal is rotated at NOW: the next file begins with the present epoch.
 */
void afford_rotate(uint64_t now);

#endif
