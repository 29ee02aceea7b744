/* SPDX-License-Identifier: MIT */
/*
 * remake.h -- a spool made from the model: where parts of a profile are from
 * pprof files, or were filtered out, there is none to copy.
 */
#ifndef PROFILE_REMAKE_H
#define PROFILE_REMAKE_H

#include <stdio.h>

#include "profile.h"

/*
 * Write PROFILE to STREAM as a spool: one record for each event, if they are
 * kept (events.h), else one for each sample. Read again it has the same sums,
 * stacks, names, threads, losses and cost; who interrupted, and what threads'
 * own clocks said, is not in it. Returns 0, or -1 with errno set.
 */
int remake_write(FILE *stream, struct profile *profile);

#endif
