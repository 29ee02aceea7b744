/* SPDX-License-Identifier: MIT */
/*
 * service.h -- does what is asked of the profiler while the program runs
 * (requests.h). It starts and stops sampling, and takes the stacks of all
 * threads. It runs libsprof-report.so as a process beside the program, which
 * writes the stacks or the profile so far. Context: sampler.
 */
#ifndef AGENT_SERVICE_H
#define AGENT_SERVICE_H

#include <stdbool.h>

#include "config.h"

/* Answer requests with this configuration and these files, which stay valid.
 * Context: start. */
void service_use(const struct config *config, const struct config_files *files);

/* Do what was asked since, and look at the process that runs beside the
 * program. Returns at once, but for a dump (all_stacks.h). */
void service_heed(void);

/* Whether a process beside the program must be looked at again soon. */
bool service_is_busy(void);

/* Called when the process ends. Wait for a process that runs beside the
 * program, for a limited time, and do what was asked since. */
void service_end(void);

#endif
