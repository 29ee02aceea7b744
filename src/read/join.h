/* SPDX-License-Identifier: MIT */
/*
 * join.h -- joins the two spools of a flight recorder. Both are of one
 * process. The second spool continues where the first one ends.
 *
 *   NAME.past.sprof  begin 60 s   | thread 7, 8      |
 *   NAME.sprof       begin 120 s                     | thread 8, 9 |
 *   the process                   | thread 7, 8, 9                 |
 *
 * Samples are weighed by the clocks in their own spool. So each spool is first
 * loaded like any other spool. The two are joined after that.
 */
#ifndef READ_JOIN_H
#define READ_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct spool_load;
struct spool_header;

/* Whether PROFILE already has the flight recorder's spool with HEADER. The
 * caller then leaves out this spool, so that no part counts twice. */
bool join_is_there(const struct profile *profile,
                   const struct spool_header *header);

/* Returns the process that the spool in LOAD continues. NULL if none is. For
 * spool.c and its helpers. */
const struct profile_process *join_before(const struct spool_load *load);

/*
 * Join the spool in LOAD to the process before it, if the spool continues that
 * process. LOAD is complete except for its sums. The spool's threads become
 * threads of that process, and the spool's own process is removed. The time of
 * a process begins with its first spool. Returns 0, or -1 if memory is short.
 * For spool.c.
 */
int join_spools(struct spool_load *load);

/*
 * Shorten the one process in PROFILE to the time that its flight recorder keeps
 * (KEEP ns). PROFILE must have kept its events. The kept time ends with the
 * latest known time. The process then begins where the kept time begins. A
 * profile that is not longer, or has several processes, stays as it is. Returns
 * 0, or -1 if memory is short.
 */
int join_shorten(struct profile *profile);

#endif
