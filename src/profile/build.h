/* SPDX-License-Identifier: MIT */
/* build.h -- from a spool to a profile. */
#ifndef PROFILE_BUILD_H
#define PROFILE_BUILD_H

#include "parts.h"
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

/*
 * The same for who reads the records himself. Begin a process with what HEADER
 * knows, in BUILD, of which only the profile is set: returns 0, or -1 if memory
 * is short; parts_release is due in both cases. Then take each RECORD of KIND.
 */
int build_begin(struct build *build, const struct spool_header *header);
enum outcome build_take(struct build *build, enum record_kind kind,
                        const void *record);

/* For watch.c, which takes samples in its own way: what RECORD stands for;
 * false if it refers to what does not exist. */
bool build_find_key(const struct build *build,
                    const struct record_sample *record,
                    struct profile_sample *key);

/* Whether RECORD is CPU time without a sample. */
bool build_is_unsampled(const struct record_sample *record);

#endif
