/* SPDX-License-Identifier: MIT */
/*
 * interval.h -- profiles of a process between two positions of its spool, while
 * the process writes it. Each call of interval_take makes a profile of all that
 * is new since the call before. Nothing is taken twice:
 *
 *     take 1             take 2             take 3     interval_finish
 *       |  profile of      |  profile of      |  ...     |
 *   ----+------------------+------------------+----------+  the spool
 *        what is between the marks
 *
 * The sums of all profiles are those of the spool as a report shows it, to the
 * nanosecond, once interval_finish has taken the rest. CPU time is what the
 * clocks of the threads say. So it does not change afterwards, as it does when
 * samples are weighed (read/weigh.h).
 *
 * A position can be saved as text, and another process can go on from it. It
 * has a line for each thread that lives, and for each wait that goes on.
 *
 * The cost of a take grows with the news. Memory grows with the number of
 * different stacks and threads, and the samples of a take are forgotten at the
 * next one. Not thread-safe.
 */
#ifndef LIVE_INTERVAL_H
#define LIVE_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "model/profile.h"

struct interval;

/*
 * Open the spool of one process at PATH, at its beginning. The file may be
 * renamed or removed later. Returns NULL with a sentence in ERROR (of SIZE
 * bytes) on failure.
 */
struct interval *interval_open(const char *path,
                               const struct symbolizer_options *options,
                               char *error, size_t size);

/* PID is the pid of the process in this namespace. */
void interval_tell_pid(struct interval *interval, uint32_t pid);

/*
 * Take what is new. Afterwards interval_profile has it, which may be nothing.
 * To begin at the present, take once and use nothing of it. Returns 0, or -1
 * with errno set if memory is short.
 */
int interval_take(struct interval *interval);

/*
 * As interval_take, for a spool to which nothing will be added: its process has
 * ended, or a flight recorder has put it aside. The rest is taken, and made to
 * agree with the sums of the whole spool, which is read for that.
 */
int interval_finish(struct interval *interval);

/*
 * The profile of the latest take: samples with what they have in the interval,
 * its time, its losses and its cost. Threads, modules and nodes are those of
 * the whole spool so far. It is valid until the next take; callers may change
 * its start, and that of its process, and nothing else.
 */
struct profile *interval_profile(const struct interval *interval);

/* The header of the spool. It lives as long as INTERVAL. */
const struct spool_header *interval_header(const struct interval *interval);

/* The first process of the profile. */
const struct profile_process *interval_process(const struct interval *interval);

/* Costs and losses since the process began, at the latest take. */
const struct profile_cost *interval_cost(const struct interval *interval);

/* The number of threads that had not ended at the latest take. */
uint32_t interval_living(const struct interval *interval);

/* Whether the library has written the last record of the spool. */
bool interval_is_over(const struct interval *interval);

/* Whether SPOOL is still the file at PATH. It is not if it was removed, or if a
 * flight recorder has begun another one. */
bool interval_is_at(const struct interval *interval, const char *path);

/* Which file SPOOL is. It stays open, so no other file has both numbers. */
void interval_file(const struct interval *interval, dev_t *device,
                   ino_t *inode);

/* A text without blanks that names the spool: no other spool of this machine
 * has the same. It lives as long as INTERVAL. */
const char *interval_name(const struct interval *interval);

/* A sentence about what is wrong with the spool; NULL: nothing. */
const char *interval_problem(const struct interval *interval);

/* Write the position to STREAM, as lines of text. */
void interval_position_save(const struct interval *interval, FILE *stream);

/*
 * Go to the position that interval_position_save wrote to STREAM. INTERVAL has
 * just been opened, and its spool has the same name. Returns 0, or -1 if memory
 * is short, or if STREAM has no such position; INTERVAL can then only be
 * closed.
 */
int interval_position_resume(struct interval *interval, FILE *stream);

/* Release INTERVAL; NULL is allowed. */
void interval_close(struct interval *interval);

#endif
