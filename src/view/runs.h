/* SPDX-License-Identifier: MIT */
/* runs.h -- whether two profiles are of runs of one command, so that their
 * times can be compared. */
#ifndef VIEW_RUNS_H
#define VIEW_RUNS_H

#include <stdbool.h>

#include "model/profile.h"

/* The command that began first in PROFILE, NULL if it has no process. */
const char *runs_command(const struct profile *profile);

/*
 * Whether both began with the same command and ran it equally often. Its
 * arguments must be the same, and its program must have the same name. The
 * program may lie elsewhere, for example another build of it.
 */
bool runs_are_alike(const struct profile *one, const struct profile *two);

#endif
