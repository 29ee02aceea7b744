/* SPDX-License-Identifier: MIT */
/*
 * epoch.h -- the rate at which threads that run are sampled now. The user asks
 * for a rate. The process may have a lower rate, because sampling may cost no
 * more than SPROF_COST (afford.h). An epoch is a time with one rate. The
 * sampler's looks at waiting threads keep the rate that was asked for. Context:
 * sampler.
 */
#ifndef SAMPLING_EPOCH_H
#define SAMPLING_EPOCH_H

#include <stdint.h>

/* Begin with the rate that was asked for: a sample every PERIOD ns of CPU time.
 * Also called in the child of a fork.
 * Context: start. */
void epoch_begin(uint64_t period);

/* Begin an epoch at NOW (CLOCK_MONOTONIC) with a sample every PERIOD ns of CPU
 * time. The caller has paused the triggers. */
void epoch_change(uint64_t period, uint64_t now);

/* ns of CPU time between two samples of a thread: now, and at TIME. TIME is in
 * the present epoch or in the one before.
 * Context: any thread. */
uint64_t epoch_period(void);
uint64_t epoch_period_at(uint64_t time);

#endif
