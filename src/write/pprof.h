/* SPDX-License-Identifier: MIT */
/*
 * pprof.h -- pprof files with a single kind of time. Servers that store
 * profiles make a series of each kind of value in a file. The writer of files
 * with all kinds is in the table of formats (output_file.h).
 */
#ifndef WRITE_PPROF_H
#define WRITE_PPROF_H

#include <stdio.h>

#include "model/profile.h"

/* Write PROFILE to STREAM with the number of samples and VALUE (VALUE_CPU or
 * VALUE_WALL), but without the samples that have nothing of VALUE. Returns 0,
 * or -1 with errno set. */
int pprof_write_value(FILE *stream, struct profile *profile, enum value value);

#endif
