/* SPDX-License-Identifier: MIT */
/*
 * rates.h -- the CPU time that sample points were due in, and the samples that
 * were taken of it, by what limited the rate meanwhile (base/rate.h). Sampler
 * thread alone.
 */
#ifndef AGENT_RATES_H
#define AGENT_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rate.h"
#include "account.h"

/* From now on the sampler asks more seldom than it should, to stay within its
 * budget; or not. */
void rates_spare(bool is_sparing);

/* The CPU clock of the thread of ACCOUNT reads CLOCK, and its trigger is ready:
 * what it ran before was too early for it. */
void rates_start(struct account *account, uint64_t clock);

/* It reads CLOCK now. */
void rates_run(struct account *account, uint64_t clock);

/* A sample was taken of it, with its CPU clock at CLOCK. */
void rates_take(const struct account *account, uint64_t clock);

/* CPU ns that it ran, or will be found to have run, in a call that a hook
 * measured: no samples were due in them. */
void rates_measure(struct account *account, uint64_t cpu);

/* CPU ns of threads that came and went before anybody saw them. */
void rates_unseen(uint64_t cpu);

/* What SUMS say as points, for the closing line. */
void rates_sum(const struct account_sums *sums, struct rate *rate);

#endif
