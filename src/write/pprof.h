/* SPDX-License-Identifier: MIT */
/*
 * pprof.h -- pprof profiles for servers that keep a series for each set of
 * labels. Such a server expects one type of time in a profile, and few labels:
 * the thread's name, those that the program set, and for wall time one of five
 * states. output_file.h has the form for files, which has all.
 */
#ifndef WRITE_PPROF_H
#define WRITE_PPROF_H

#include <stdint.h>
#include <stdio.h>

#include "model/profile.h"

/* Limit of the labels of a sample in a series that the program set: a server
 * takes 30 names, with those of the series. */
enum { PPROF_SERIES_LABELS = 12 };

/*
 * Make the samples of a series of VALUE, which is VALUE_CPU or VALUE_WALL:
 * those of PROFILE that have some of it, merged where a series does not
 * distinguish them. Returns *COUNT samples, which the caller frees. NULL with
 * errno set if memory is short.
 */
struct profile_sample *pprof_merge(struct profile *profile, enum value value,
                                   uint32_t *count);

/* Write COUNT of these SAMPLES as a profile, compressed, to STREAM. Its types
 * are samples and cpu, or wall. Returns 0, or -1 with errno set. */
int pprof_write_series(FILE *stream, struct profile *profile, enum value value,
                       const struct profile_sample *samples, uint32_t count);

/* Write PROFILE to STREAM with the number of samples and VALUE (VALUE_CPU or
 * VALUE_WALL), but without the samples that have nothing of VALUE. It has all
 * else that a file has. Returns 0, or -1 with errno set. */
int pprof_write_value(FILE *stream, struct profile *profile, enum value value);

#endif
