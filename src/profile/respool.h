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
 * Write to STREAM all records of the spools of PROFILE, as they are, and behind
 * those of each process the symbols of its nodes (layout.h: SYMBOL, NAMED).
 * They are read once more from their paths. Returns 0, or -1 with errno set:
 * ENOTSUP if a part of PROFILE is from no file that is a spool.
 */
int respool_write(FILE *stream, struct profile *profile);

#endif
