/* SPDX-License-Identifier: MIT */
/*
 * rates.h -- counts the CPU time in which samples were due, and the samples
 * that were taken of it. Both are counted by the limit of the rate at the time
 * (base/rate.h).
 * Context: sampler.
 */
#ifndef SAMPLING_RATES_H
#define SAMPLING_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rate.h"
#include "thread_time.h"

/* Say whether the sampler asks less often than it should, to stay within its
 * budget. */
void rates_spare(bool is_sparing);

/* The CPU clock of the thread of ACCOUNT reads CLOCK, and its trigger is ready.
 * The thread's run before that was too early for the trigger. */
void rates_start(struct thread_time *account, uint64_t clock);

/* The CPU clock of the thread of ACCOUNT reads CLOCK now. */
void rates_run(struct thread_time *account, uint64_t clock);

/* A sample was taken of the thread of ACCOUNT, with its CPU clock at CLOCK. */
void rates_take(const struct thread_time *account, uint64_t clock);

/* A hook measured a call in which the thread ran for CPU ns, which its clock
 * may show only later. No samples were due in them. */
void rates_measure(struct thread_time *account, uint64_t cpu);

/* Threads used CPU ns that came and went before the sampler saw them. */
void rates_unseen(uint64_t cpu);

/* Turn SUMS into points, for the closing line. */
void rates_sum(const struct journal_sums *sums, struct rate *rate);

#endif
