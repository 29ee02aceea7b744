/* SPDX-License-Identifier: MIT */
/* folded.h -- a profile as folded stacks, the input of flame graph tools. */
#ifndef WRITE_FOLDED_H
#define WRITE_FOLDED_H

#include <stdio.h>

#include "profile/profile.h"

/* Write the samples of PROFILE that were running, which is its CPU time, to
 * STREAM; or those in all states, which is its wall time. Returns 0, or -1 with
 * errno set. */
int folded_write(FILE *stream, struct profile *profile);
int folded_write_wall(FILE *stream, struct profile *profile);

#endif
