/* SPDX-License-Identifier: MIT */
/*
 * pprof_read.h -- adds a pprof profile (write/pprof.proto) to the model: one
 * that `sprofile` wrote comes back as it was, but for when its samples were;
 * one of others becomes what the model can hold.
 */
#ifndef PROFILE_PPROF_READ_H
#define PROFILE_PPROF_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/* Whether LENGTH bytes begin as a profile does, compressed or not. */
bool pprof_read_recognize(const void *bytes, size_t length);

/*
 * Add the profile of LENGTH bytes. Its samples need not keep any order in time;
 * if PROFILE keeps events, they come one after the other in each thread.
 * Returns 0, or -1 and PROFILE has nothing of it: *WRONG is then part of a
 * sentence, "it is damaged", or NULL if memory is short.
 */
int pprof_read(struct profile *profile, const void *bytes, size_t length,
               const char **wrong);

#endif
