/* SPDX-License-Identifier: MIT */
/*
 * clocks.h -- the CPU time that threads' own clocks tell, shared by their
 * samples. weigh.h does the same for a whole spool; this is for one that still
 * grows. Part of watch.c.
 */
#ifndef LIVE_CLOCKS_H
#define LIVE_CLOCKS_H

#include <stdint.h>

struct given;
struct watch;
struct record_sample;

/* A sample that has no share yet, as it was recorded. */
struct clocks_sample {
    uint32_t sample, count;
    uint64_t time, cpu, wall; /* ns */
};

/* Take RECORD, which found its thread running; it belongs to sample number
 * SAMPLE. Returns 0, or -1 if memory is short. */
int clocks_put(struct watch *watch, const struct record_sample *record,
               uint32_t sample);

/* Take the end of THREAD. Returns 0, or -1 if memory is short. */
int clocks_put_end(struct watch *watch, uint32_t thread);

/* Count the difference between GIVEN and BEFORE: CPU time of THREAD during
 * which no sample was taken. Returns 0, or -1 if memory is short. */
int clocks_spread(struct watch *watch, uint32_t thread,
                  const struct given *given, const struct given *before);

/* Give every sample that was taken its share, and count it. Returns 0, or -1 if
 * memory is short. */
int clocks_share(struct watch *watch);

#endif
