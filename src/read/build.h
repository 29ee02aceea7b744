/* SPDX-License-Identifier: MIT */
/* build.h -- adds a spool to a profile. */
#ifndef READ_BUILD_H
#define READ_BUILD_H

#include "model/profile.h"
#include "parts.h"

struct reader;

/*
 * Add the records of a spool to PROFILE, from READER's position to its end. A
 * record that makes no sense (a thread, stack or number that does not exist) is
 * left out and counted in profile->problems. Returns 0, or -1 with errno set if
 * memory is short; the profile then holds the records up to there. The reader
 * may be ended afterwards.
 */
int build_add(struct profile *profile, struct reader *reader);

/*
 * As build_add, for a caller that reads the records itself. build_begin begins
 * a process with the facts in HEADER, in BUILD, of which only PROFILE is set.
 * It returns 0, or -1 if memory is short; parts_release is due in both cases.
 * Then build_take takes each RECORD of KIND.
 */
int build_begin(struct build *build, const struct spool_header *header);
enum outcome build_take(struct build *build, enum record_kind kind,
                        const void *record);

/* For live/watch.c, which sums up samples in its own way: set KEY to the
 * sample that RECORD belongs to. False if RECORD refers to something
 * that does not exist. */
bool build_find_key(const struct build *build,
                    const struct record_sample *record,
                    struct profile_sample *key);

/* Whether RECORD is CPU time without a sample. */
bool build_is_unsampled(const struct record_sample *record);

#endif
