/* SPDX-License-Identifier: MIT */
/*
 * clocks.h -- the CPU time that threads' own clocks tell, shared by their
 * samples: weigh.h for a spool that is not at its end. Part of watch.c.
 */
#ifndef PROFILE_CLOCKS_H
#define PROFILE_CLOCKS_H

#include <stdint.h>

struct given;
struct watch;
struct record_sample;

/* A sample that has no share yet, as it was recorded. */
struct clocks_sample {
    uint32_t sample, count;
    uint64_t time, cpu, wall; /* ns */
};

/* RECORD, of SAMPLE, found its thread running. Returns 0, or -1 if memory is
 * short. */
int clocks_put(struct watch *watch, const struct record_sample *record,
               uint32_t sample);

/* THREAD has ended. The same. */
int clocks_put_end(struct watch *watch, uint32_t thread);

/* Count the difference between GIVEN and BEFORE, CPU time of THREAD that no
 * sample was taken of. The same. */
int clocks_spread(struct watch *watch, uint32_t thread,
                  const struct given *given, const struct given *before);

/* Give all that were put their share, and count them. The same. */
int clocks_share(struct watch *watch);

#endif
