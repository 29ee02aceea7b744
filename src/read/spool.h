/* SPDX-License-Identifier: MIT */
/* spool.h -- adds a spool to a profile. */
#ifndef READ_SPOOL_H
#define READ_SPOOL_H

#include "model/profile.h"
#include "spool_load.h"

struct reader;

/*
 * Add the records of a spool to PROFILE, from READER's position to its end. A
 * record that makes no sense (a thread, stack or number that does not exist) is
 * left out and counted in profile->problems. Returns 0, or -1 with errno set if
 * memory is short; the profile then holds the records up to there. The reader
 * may be ended afterwards.
 */
int spool_add(struct profile *profile, struct reader *reader);

/*
 * As spool_add, for a caller that reads the records itself. spool_begin begins
 * a process with the facts in HEADER, in BUILD, of which only PROFILE is set.
 * It returns 0, or -1 if memory is short; spool_load_release is due in both
 * cases. Then spool_take takes each RECORD of KIND.
 */
int spool_begin(struct spool_load *load, const struct spool_header *header);
enum outcome spool_take(struct spool_load *load, enum record_kind kind,
                        const void *record);

/* For live/watch.c, which sums up samples in its own way: set KEY to the
 * sample that RECORD belongs to. This may add nodes. False if RECORD refers to
 * something that does not exist. */
bool spool_find_key(struct spool_load *load, const struct record_sample *record,
                    struct profile_sample *key);

/* Whether RECORD is CPU time without a sample. */
bool spool_is_unsampled(const struct record_sample *record);

#endif
