/* SPDX-License-Identifier: MIT */
/*
 * respool.h -- the spools of a profile in one file, with their names. A profile
 * that was recorded here can then be reported where the program and its symbols
 * are missing.
 */
#ifndef WRITE_RESPOOL_H
#define WRITE_RESPOOL_H

#include <stdio.h>

#include "model/profile.h"

/*
 * Write PROFILE to STREAM as a spool with names. If the profile has exactly
 * what some spools have, these are read again and all their records are copied.
 * Otherwise (parts are from pprof files, or were filtered out) it is made from
 * the model (remake.h). Returns 0, or -1 with errno set.
 */
int respool_write(FILE *stream, struct profile *profile);

#endif
