/* SPDX-License-Identifier: MIT */
/* runs.h -- whether two profiles are of runs of one command, so that the times
 * of one can be compared with those of the other. */
#ifndef PROFILE_RUNS_H
#define PROFILE_RUNS_H

#include <stdbool.h>

#include "profile.h"

/* The command that began first in PROFILE, NULL if it has no process. */
const char *runs_command(const struct profile *profile);

/*
 * Whether both began with the same command and ran it equally often: the same
 * arguments, and a program of the same name, which may lie elsewhere (a build
 * of it is compared with another one).
 */
bool runs_are_alike(const struct profile *one, const struct profile *two);

#endif
