/* SPDX-License-Identifier: MIT */
/*
 * counters.h -- the counters of a profile as a line of text, which a program
 * reads back exactly. A pprof file has it as a comment:
 *
 *   asked 12348, taken 12345, sampler_cpu 21004311, lost exited 2, lost silent
 * 1
 */
#ifndef MODEL_COUNTERS_H
#define MODEL_COUNTERS_H

#include <stddef.h>

#include "profile.h"

/* COUNTERS_SIZE: bytes that every line fits into. */
enum { COUNTERS_SIZE = 2048 };

struct counters {
    struct profile_cost cost;
    uint64_t by_signal; /* points of running threads, asked by the sampler */
};

/* Write the COUNTERS that are not 0 to TEXT, which is COUNTERS_SIZE bytes.
 * Returns TEXT. */
char *counters_write(const struct counters *counters, char *text);

/* Set COUNTERS to what counters_write wrote. A counter that is not in TEXT
 * becomes 0. A counter that is not in the table is left out. */
void counters_read(struct counters *counters, const char *text);

#endif
