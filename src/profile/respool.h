/* SPDX-License-Identifier: MIT */
/*
 * respool.h -- the spools that a profile was read from, in one file, with their
 * names: what was recorded here can be reported where the program and its
 * symbols are not.
 */
#ifndef PROFILE_RESPOOL_H
#define PROFILE_RESPOOL_H

#include <stdio.h>

#include "profile.h"

/*
 * Write PROFILE to STREAM as a spool with names. If it is just what some spools
 * have, these are read once more, and all their records stand in it as they
 * are; else (parts of it are from pprof files, or were filtered out) it is made
 * from the model (remake.h). Returns 0, or -1 with errno set.
 */
int respool_write(FILE *stream, struct profile *profile);

#endif
