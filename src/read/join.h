/* SPDX-License-Identifier: MIT */
/*
 * join.h -- joins the two spools of a flight recorder. One continues where
 * the other ends, and both are of one process.
 *
 *   NAME.past.sprof  begin 60 s   | thread 7, 8      |
 *   NAME.sprof       begin 120 s                     | thread 8, 9 |
 *   the process                   | thread 7, 8, 9                 |
 *
 * Samples are weighed by the clocks in their own spool. So each is built like
 * any other spool, and then they are joined.
 */
#ifndef READ_JOIN_H
#define READ_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct spool_load;
struct spool_header;

/* Whether PROFILE already has the spool of a flight recorder with HEADER, so
 * that no part counts twice. */
bool join_is_there(const struct profile *profile,
                   const struct spool_header *header);

/*
 * Join BUILD, which is complete but for its sums, to the process before it if
 * it continues that one. Its threads then become those of that process, and its
 * own process is removed. The time of a process begins with the first of its
 * spools. Returns 0, or -1 if memory is short. For spool.c.
 */
int join_spools(struct spool_load *load);

/*
 * Shorten the one process in PROFILE, which keeps its events, to the time that
 * a flight recorder keeps. That time ends with the last known one. The process
 * then begins there. Does nothing if the profile has no more than that, or
 * several processes. Returns 0, or -1 if memory is short.
 */
int join_shorten(struct profile *profile);

#endif
