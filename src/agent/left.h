/* SPDX-License-Identifier: MIT */
/*
 * left.h -- spools that children leave because they changed their user, who may
 * not write where the profile is wanted. Their parent, which is still the
 * superuser, writes those profiles when it ends itself.
 */
#ifndef AGENT_LEFT_H
#define AGENT_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "output.h"

/* Around a fork: before it, in the parent; and in the child. */
void left_before_fork(void);
void left_in_child(void);

/* This process is about to change its user: its parent is to look. */
void left_mark(void);

/* Whether the parent of this process, which lives and has other rights, writes
 * its profile. */
bool left_to_parent(void);

/* Whether a child has changed its user, and this process has not. */
bool left_is_wanted(void);

/*
 * Write the profiles of all children that have ended and left their spools, in
 * LIMIT ns. What failed first is in *RESULT; returns how many did. On the
 * sampler's thread, at the end of the process whose FILES are given.
 */
unsigned left_write(const struct config *config,
                    const struct config_files *files, uint64_t limit,
                    struct output_result *result);

#endif
