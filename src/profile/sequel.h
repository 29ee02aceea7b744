/* SPDX-License-Identifier: MIT */
/*
 * sequel.h -- the two spools of a flight recorder: one goes on where the other
 * ends, and both are of one process.
 *
 *   NAME.past.sprof  begin 60 s   | thread 7, 8      |
 *   NAME.sprof       begin 120 s                     | thread 8, 9 |
 *   the process                   | thread 7, 8, 9                 |
 *
 * Samples are weighed by the clocks in their own spool, so both are built as
 * any other, and joined then.
 */
#ifndef PROFILE_SEQUEL_H
#define PROFILE_SEQUEL_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct build;
struct spool_header;

/* Whether PROFILE has the spool with HEADER already: of a flight recorder, no
 * part counts twice. */
bool sequel_is_there(const struct profile *profile,
                     const struct spool_header *header);

/*
 * BUILD is complete but for its sums. If it goes on with the process that was
 * added before it, its threads become those of that process, and its own
 * process goes. The time of a process begins with the first of its spools.
 * Returns 0, or -1 if memory is short. For build.c.
 */
int sequel_join(struct build *build);

/*
 * Of the one process in PROFILE, which keeps its events, leave what a flight
 * recorder is to keep, up to the last that is known; its time then begins
 * there. Does nothing if that is all, or there are several processes. Returns
 * 0, or -1 if memory is short.
 */
int sequel_keep(struct profile *profile);

#endif
