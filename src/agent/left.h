/* SPDX-License-Identifier: MIT */
/*
 * left.h -- the spools of children that changed their user, and so may not
 * write where the profile is wanted. Their parent, which is still the
 * superuser, writes those profiles at its own end. It also removes the spools
 * without a sample of traced children that their tracer killed.
 */
#ifndef AGENT_LEFT_H
#define AGENT_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "output.h"

/* Called around a fork: before it, in the parent; and then in the child. */
void left_before_fork(void);
void left_in_child(void);

/* Called when this process is about to change its user, or to be traced: its
 * parent is to look for its spool. */
void left_mark(void);

/* Whether the parent of this process, which lives and has other rights, writes
 * its profile. */
bool left_to_parent(void);

/* Whether a child has called left_mark. */
bool left_is_wanted(void);

/*
 * Write the profiles of all children that have ended and left their spools, in
 * LIMIT ns. Remove their spools that have no sample. Returns how many profiles
 * failed; the first failure is in *RESULT. Called on the sampler's thread, at
 * the end of the process whose FILES are given.
 */
unsigned left_write(const struct config *config,
                    const struct config_files *files, uint64_t limit,
                    struct output_result *result);

#endif
