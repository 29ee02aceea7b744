/* SPDX-License-Identifier: MIT */
/*
 * idle.h -- finds the threads that only waited for work: those of a pool, of an
 * event loop or of a timer. Wall time of a server is mostly theirs, and tells
 * nothing. A thread is idle in a range of time if all of this is true:
 *
 *   - it used less than 1 % of its time of a CPU
 *   - it waited for 95 % of its time or more at one place: in one system call,
 *     called from one stack. That call waits for what others do (idle.c)
 *   - it did not wait there for a lock whose holder is known, for a file or for
 *     a GPU
 *   - a thread of its process was not idle
 */
#ifndef MODEL_IDLE_H
#define MODEL_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/* What SAMPLE has in a range of time, in ns. */
struct idle_time {
    uint64_t cpu, wall;
};
typedef struct idle_time idle_time_of(const void *context, uint32_t sample);

/* Return whether each thread of PROFILE is idle by the times that TIME_OF tells
 * of each sample: an array for free(3), NULL if memory is short. */
bool *idle_threads(struct profile *profile, idle_time_of *time_of,
                   const void *context);

/* Find the idle threads by the values of the samples, and set IS_IDLE of each
 * thread. Returns 0, or -1 if memory is short. */
int idle_find(struct profile *profile);

/* The number of idle threads, and the sums of their samples. */
uint32_t idle_sum(const struct profile *profile, uint64_t sums[VALUE_COUNT]);

/* Make the time in which idle threads did not run that of one node,
 * profile->idle_node, which is on no stack. Returns 0, or -1 if memory is
 * short. */
int idle_fold(struct profile *profile);

/* Bytes for the name of that node: "[17 idle threads; --idle shows them]". */
enum { IDLE_NAME_SIZE = 64 };
const char *idle_name(uint32_t count, char text[IDLE_NAME_SIZE]);

#endif
