/* SPDX-License-Identifier: MIT */
/*
 * quality.h -- the sentences that every output says about a profile in the
 * same words: losses, cut stacks, cost. Each function writes one line
 * without a newline into TEXT of SIZE bytes, truncates it if it does not
 * fit, and returns TEXT.
 */
#ifndef MODEL_QUALITY_H
#define MODEL_QUALITY_H

#include <stddef.h>

#include "profile.h"

/* "3 of 12348 asked: 2 exited, 1 silent", or "none of 12348 asked". */
char *quality_losses(const struct profile *profile, char *text, size_t size);

/* "434 samples in 1.930 s of CPU: 225 a CPU second of 1,000 asked (timers, 250
 * Hz: threads switch too often)", for samples of threads that ran. "" if the
 * rate is unknown, as in files of old versions. */
char *quality_rate(const struct profile *profile, char *text, size_t size);

/* "225 a CPU second of 1,000 asked (switches, short)", with as many causes as
 * fit into ROOM bytes. "" if the rate is unknown. */
char *quality_short_rate(const struct profile *profile, char *text, size_t size,
                         size_t room);

/* "1930 points in 1.930000 s: 434 taken, 0 lost, 1496 not asked: 1480 switches,
 * 16 short": everything that a rate has to account for. "" if the rate is
 * unknown. */
char *quality_due(const struct profile *profile, char *text, size_t size);

/* "10 of 12345 stacks: 10 no rule", or "none of 12345 stacks". It counts all
 * stacks that were walked, also those of waiting threads. */
char *quality_cuts(const struct profile *profile, char *text, size_t size);

/* "sampler 0.021 s CPU, 0.2 % of 12.400 s; threads stopped 0.009 s; 4 parked
 * (0.03 %)". The time after "of" is the CPU time of the process; parked are
 * samples. */
char *quality_cost(const struct profile *profile, char *text, size_t size);

/* "0.512 s CPU, 22.7 % of 2.251 s: ...": CPU time that the kernel accounts for
 * and no process reports, and the reason. "" if it is unknown, or less than a
 * percent. */
char *quality_unseen(const struct profile *profile, char *text, size_t size);

/* A warning that the time axis is invented because the samples' times are
 * unknown; "" if they are known. */
char *quality_times(const struct profile *profile, char *text, size_t size);

/* A warning that running threads were asked by a signal; "" if none was. */
char *quality_asked(const struct profile *profile, char *text, size_t size);

/* "2026-05-09 07:29:33 UTC, 12.400 s". */
char *quality_time(const struct profile *profile, char *text, size_t size);

/* Sum up in VALUES the samples of PROFILE whose stacks have a caller that was
 * found by a search (NODE_GUESSED). Returns 0, or -1 with errno set. */
int quality_sum_guessed(const struct profile *profile,
                        uint64_t values[VALUE_COUNT]);

#endif
