/* SPDX-License-Identifier: MIT */
/* brief.h -- a profile in a few lines: what a recording ends with. */
#ifndef WRITE_BRIEF_H
#define WRITE_BRIEF_H

#include <stdio.h>

#include "profile/profile.h"

/* PROFILE, which stands in PATH, to STREAM: its size, the functions that used
 * the most CPU time (wall time, if none was used), losses and cost. Returns 0,
 * or -1 with errno set. */
int brief_write(FILE *stream, struct profile *profile, const char *path);

#endif
