/* SPDX-License-Identifier: MIT */
/*
 * spool_remake.h -- a spool that is made from the model. It is used if a
 * profile has parts from pprof files, or is filtered: then there is no spool to
 * copy.
 */
#ifndef WRITE_SPOOL_REMAKE_H
#define WRITE_SPOOL_REMAKE_H

#include <stdio.h>

#include "model/profile.h"

/*
 * Write PROFILE to STREAM as a spool. It has one record for each event if
 * events are kept (events.h), else one for each sample. A profile that is read
 * from it has the same sums, stacks, names, threads, losses and cost. It does
 * not have the triggers of samples and the threads' own clocks. Returns 0, or
 * -1 with errno set.
 */
int spool_remake_write(FILE *stream, struct profile *profile);

#endif
