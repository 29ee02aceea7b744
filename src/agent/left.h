/* SPDX-License-Identifier: MIT */
/*
 * left.h -- the spools of children that wrote no profile. A child that changed
 * its user may not be allowed to write to the directory of the profile. Its
 * parent, which is still the superuser, writes the child's profile when the
 * parent ends. It also does that for a child that ran out of time
 * (SPROF_EXIT_MS). A tracer may have killed a traced child. If that child's
 * spool has no sample, the parent removes it.
 */
#ifndef AGENT_LEFT_H
#define AGENT_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "output.h"

/* left_before_fork is called in the parent before a fork, left_in_child in the
 * child after it. */
void left_before_fork(void);
void left_in_child(void);

/* Called when this process is about to change its user, or to be traced. At its
 * end the parent then looks for this process's spool. */
void left_mark(void);

/* Whether the parent will write the profile of this process. The parent must
 * live, and have other rights than this process. */
bool left_to_parent(void);

/* This process ran out of time for its profile. Leave the profile to the
 * parent. Returns false if the parent is gone or ends, or lacks the library. */
bool left_leave(void);

/* This process ends. From now on its children leave nothing to it. */
void left_close(void);

/* Whether a child has called left_mark. */
bool left_is_wanted(void);

/*
 * Write the profiles of all children that have ended and left their spools,
 * until CLOCK_MONOTONIC UNTIL. Remove spools that have no sample. Returns the
 * number of profiles that failed. The first failure is in *RESULT. Called on
 * the sampler's thread, at the end of the process. FILES are the files of that
 * process.
 */
unsigned left_write(const struct config *config,
                    const struct config_files *files, uint64_t until,
                    struct output_result *result);

#endif
