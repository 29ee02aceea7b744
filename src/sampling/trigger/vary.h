/* SPDX-License-Identifier: MIT */
/*
 * vary.h -- decides when perf's period changes, and to what, so that it cannot
 * fall into step with the program. A change begins the main thread's period
 * anew. That loses half a period on the average. It loses all samples of a
 * thread that never runs for a whole period between two changes. So several
 * periods of the main thread's CPU time lie between two changes, and the rate
 * is raised to make up for the loss. These are pure functions.
 * Context: sampler.
 */
#ifndef SAMPLING_TRIGGER_VARY_H
#define SAMPLING_TRIGGER_VARY_H

#include <stdbool.h>
#include <stdint.h>

struct vary {
    uint64_t period;   /* ns of CPU time between two samples, average */
    uint64_t changed;  /* CLOCK_MONOTONIC of the last change, ns */
    uint64_t cpu;      /* the main thread's CPU clock at that time, ns */
    uint64_t mirrored; /* the rate that mirrors the last one; 0: none */
};

/* Begin without a change, for a sample every PERIOD ns. */
void vary_begin(struct vary *vary, uint64_t period);

/* Whether enough time has passed at NOW for a call of vary_next, which needs a
 * reading of the clock. HAS_NEW: new threads were made, and keep the period of
 * that moment. */
bool vary_is_time(const struct vary *vary, uint64_t now, bool has_new);

/* Returns the period from NOW on: up to 1 / SPREAD of the rate to either side,
 * by RANDOM, which is any number. CPU is the main thread's CPU clock
 * (CLOCK_NONE if it has none). Returns 0 if the period stays. */
uint64_t vary_next(struct vary *vary, uint64_t now, uint64_t cpu, bool has_new,
                   uint64_t spread, uint64_t random);

#endif
