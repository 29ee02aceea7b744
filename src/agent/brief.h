/* SPDX-License-Identifier: MIT */
/*
 * brief.h -- the spool of a process that was too short to be sampled. It says
 * which process that was, and its CPU time. `sprofile record` wants one of each
 * process (SPROF_KEEP_SPOOL=2), so that the CPU time of a tree of processes
 * adds up.
 */
#ifndef AGENT_BRIEF_H
#define AGENT_BRIEF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"
#include "store/layout.h"
#include "config.h"

/* Write the spool of this process, which ended for REASON, in one go. It goes
 * into the file beside the outputs in FILES that all processes share, or else
 * to the name in FILES. A failure is not reported. Async-signal-safe. */
void brief_write(const struct config *config, const struct settings *settings,
                 struct config_files *files, enum end_reason reason);

/*
 * An exec does not set the CPU clock back. At the exec, an image that has a
 * spool records how much of that clock its spool tells (brief_leave). The
 * record is a symbolic link beside FILES. The next image takes it (brief_take),
 * and begins there. brief_take returns 0 if no image has told anything yet.
 */
void brief_leave(const struct config_files *files, pid_t pid, uint64_t cpu);
uint64_t brief_take(const struct config_files *files, pid_t pid);

#endif
