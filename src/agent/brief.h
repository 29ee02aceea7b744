/* SPDX-License-Identifier: MIT */
/*
 * brief.h -- the spool of a process that ended before it could be sampled.
 * The spool has the process's name and its CPU time. `sprofile record` needs a
 * spool of each process (SPROF_KEEP_SPOOL=2), so that the CPU times of a tree
 * of processes add up.
 */
#ifndef AGENT_BRIEF_H
#define AGENT_BRIEF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"
#include "store/layout.h"
#include "config.h"

/* Write the spool of this process, which ends for REASON. The spool goes into
 * a file that all processes share, beside the outputs in FILES. If that fails,
 * the spool goes to its own name in FILES. A failure is not reported.
 * Async-signal-safe. */
void brief_write(const struct config *config, const struct settings *settings,
                 struct config_files *files, enum end_reason reason);

/*
 * An exec does not set the process's CPU clock back. An image that has a spool
 * calls brief_leave at the exec. CPU is the clock, in ns, at the end of the
 * spool. brief_leave stores CPU in a symbolic link beside FILES. The next image
 * calls brief_take, and counts from the stored time on. brief_take removes the
 * link. It returns 0 without a link.
 */
void brief_leave(const struct config_files *files, pid_t pid, uint64_t cpu);
uint64_t brief_take(const struct config_files *files, pid_t pid);

#endif
