/* SPDX-License-Identifier: MIT */
/*
 * quality.h -- the sentences about losses, cut stacks and cost of a profile.
 * All outputs use the same words. Each function writes one line without a
 * newline into TEXT of SIZE bytes, and returns TEXT. A line that does not fit
 * is truncated.
 */
#ifndef MODEL_QUALITY_H
#define MODEL_QUALITY_H

#include <stddef.h>

#include "profile.h"

/* "3 of 12348 asked: 2 exited, 1 silent", or "none of 12348 asked". */
char *quality_losses(const struct profile *profile, char *text, size_t size);

/* Returns the looks for each point at which a thread did not run: 1, or less if
 * the sampler could not afford a look at each point. */
double quality_look_share(const struct profile *profile);

/* Returns the number of looks for POINTS such points. */
uint64_t quality_looks(const struct profile *profile, uint64_t points);

/* Returns the samples of running threads. *LOOKS becomes the number of looks at
 * threads that did not run. Points without a sample are neither. */
uint64_t quality_count(const struct profile *profile, uint64_t *looks);

/* The processes with at least one sample. The others were too short, or did not
 * run. */
uint32_t quality_sampled_processes(const struct profile *profile);

/* "434 of 2 threads, 1204 looks at waits": the counts of quality_count after
 * the filter. For several processes, some without a sample, "434 of 2 threads
 * in 1 of 41 processes". */
char *quality_samples(const struct profile *profile, char *text, size_t size);

/* "434 samples in 1.930 s of CPU: 225 a CPU second of 1,000 asked (timers, 250
 * Hz: threads switch too often)". It counts the samples of running threads. ""
 * if the rate is unknown, as in files of old versions. */
char *quality_rate(const struct profile *profile, char *text, size_t size);

/* "1.374000 in 2003 samples": by how much the squares of the CPU times of
 * running threads' samples exceed those of as many equal ones, for each stack.
 * view/confidence.h needs the squares. "" if they are not known. */
char *quality_spread(const struct profile *profile, char *text, size_t size);

/* The number of samples that were asked for in a CPU second. This is the rate
 * that all processes have in common. If their rates differ, it is the effective
 * rate. 0 if it is unknown. */
uint64_t quality_wanted_rate(const struct profile *profile);

/* "225 a CPU second of 1,000 asked (switches, short)", with as many causes as
 * fit into ROOM bytes. "" if the rate is unknown. For a part of a profile,
 * whose wanted rate is not known, it is "225 a CPU second". */
char *quality_short_rate(const struct profile *profile, char *text, size_t size,
                         size_t room);

/* "1930 points in 1.930000 s: 434 taken, 0 lost, 1496 not asked: 1480 switches,
 * 16 short". These numbers add up to all points that the rate made due. "" if
 * the rate is unknown. */
char *quality_due(const struct profile *profile, char *text, size_t size);

/* "10 of 12345 stacks: 10 no rule", or "none of 12345 stacks". It counts all
 * stacks that were walked, and among them the stacks of waiting threads. */
char *quality_cuts(const struct profile *profile, char *text, size_t size);

/* The CPU time of the sampler in percent of *OF, in ns: of the CPU time of the
 * processes. If they mainly waited, *OF is the time that passed, and *IS_WALL
 * is true: a percentage of next to nothing would alarm for no reason. */
double quality_cost_share(const struct profile *profile, uint64_t *of,
                          bool *is_wall);

/* "sampler 0.021 s CPU, 0.2 % of 12.400 s; threads stopped 0.009 s; 4 parked
 * (0.03 %)". The time after "of" is that of quality_cost_share. The number
 * before "parked" counts samples. */
char *quality_cost(const struct profile *profile, char *text, size_t size);

/* "0.512 s CPU, 22.7 % of 2.251 s: ...": the CPU time that the kernel counted
 * and no process reported, and the reasons. "" if this time is unknown, less
 * than a percent, or less than 1 ms. */
char *quality_unseen(const struct profile *profile, char *text, size_t size);

/* "CPU time does not add up: samples 2.111 s, threads 2.111 s, ...": a warning
 * that sums which should agree do not (read/agree.h). "" if they do. */
char *quality_sums(const struct profile *profile, char *text, size_t size);

/* A warning that the time axis is invented, because the times of some samples
 * are unknown. "" if all times are known. */
char *quality_times(const struct profile *profile, char *text, size_t size);

/* A warning that the sampler sent signals to running threads. "" if it sent
 * none. */
char *quality_asked(const struct profile *profile, char *text, size_t size);

/* "2026-05-09 07:29:33 UTC, 12.400 s": the start of the profile and its
 * duration. */
char *quality_time(const struct profile *profile, char *text, size_t size);

/* Sum up in VALUES the samples of PROFILE whose stack has a caller that was
 * found by a search (NODE_GUESSED). Returns 0, or -1 with errno set. */
int quality_sum_guessed(const struct profile *profile,
                        uint64_t values[VALUE_COUNT]);

/* Enough bytes for every line of counters. */
enum { QUALITY_COUNTERS_SIZE = 2048 };

struct counters {
    struct profile_cost cost;
    uint64_t by_signal; /* points of running threads, asked by the sampler */
};

/* Write the COUNTERS that are not 0 to TEXT of QUALITY_COUNTERS_SIZE bytes, for
 * quality_read_counters: "asked 12348, taken 12345, lost exited 2". A pprof
 * file has this line as a comment. Returns TEXT. */
char *quality_write_counters(const struct counters *counters, char *text);

/* Set COUNTERS to what quality_write_counters wrote. A counter that is not in
 * TEXT becomes 0. A counter that is not in the table is left out. */
void quality_read_counters(struct counters *counters, const char *text);

#endif
