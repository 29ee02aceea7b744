/* SPDX-License-Identifier: MIT */
/* folded.h -- a profile as folded stacks, the input of flame graph tools. */
#ifndef WRITE_FOLDED_H
#define WRITE_FOLDED_H

#include <stdio.h>

#include "model/profile.h"

/* Write PROFILE to STREAM. folded_write counts running samples, which are CPU
 * time; folded_write_wall counts samples in all states, which are wall time.
 * Both return 0, or -1 with errno set. */
int folded_write(FILE *stream, struct profile *profile);
int folded_write_wall(FILE *stream, struct profile *profile);

#endif
