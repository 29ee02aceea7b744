/* SPDX-License-Identifier: MIT */
/* speedscope.h -- a profile as speedscope's JSON, one profile for each thread.
 */
#ifndef WRITE_SPEEDSCOPE_H
#define WRITE_SPEEDSCOPE_H

#include <stdio.h>

#include "model/profile.h"

/* Write PROFILE to STREAM with CPU time or, in the second function, with wall
 * time. PROFILE must keep its events (model/events.h). Both return 0, or -1
 * with errno set. */
int speedscope_write(FILE *stream, struct profile *profile);
int speedscope_write_wall(FILE *stream, struct profile *profile);

#endif
