/* SPDX-License-Identifier: MIT */
/* pprof.h -- a profile in pprof's format (pprof.proto), compressed. */
#ifndef WRITE_PPROF_H
#define WRITE_PPROF_H

#include <stdio.h>

#include "model/profile.h"

/* Write PROFILE to STREAM. Returns 0, or -1 with errno set. */
int pprof_write(FILE *stream, struct profile *profile);

#endif
