/* SPDX-License-Identifier: MIT */
/* speedscope.h -- a profile as speedscope's JSON, one profile for each thread.
 */
#ifndef WRITE_SPEEDSCOPE_H
#define WRITE_SPEEDSCOPE_H

#include <stdio.h>

#include "profile/profile.h"

/* Write PROFILE, which must keep its events (profile/events.h), to STREAM with
 * CPU time, or with wall time. Returns 0, or -1 with errno set. */
int speedscope_write(FILE *stream, struct profile *profile);
int speedscope_write_wall(FILE *stream, struct profile *profile);

#endif
