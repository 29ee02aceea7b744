/* SPDX-License-Identifier: MIT */
/* build.h -- from a spool to a profile. */
#ifndef PROFILE_BUILD_H
#define PROFILE_BUILD_H

#include "profile.h"

struct reader;

/*
 * Add the records of a spool to PROFILE, from READER's place to its end. What
 * makes no sense (a thread, stack or number that does not exist) is left out
 * and counted in profile->problems. Returns 0, or -1 with errno set if memory
 * is short; the profile then holds what was added before. The reader may be
 * ended afterwards.
 */
int build_add(struct profile *profile, struct reader *reader);

#endif
