/* SPDX-License-Identifier: MIT */
/*
 * service.h -- does what is asked of the profiler while the program runs
 * (control.h): starts and stops sampling, takes the stacks of all threads, and
 * has libsprof-report.so write them, or the profile so far, as a process beside
 * the program. Sampler thread alone, but for service_use.
 */
#ifndef AGENT_SERVICE_H
#define AGENT_SERVICE_H

#include <stdbool.h>

#include "config.h"

/* What is asked for is of this configuration and these files, which stay
 * valid. Before the sampler starts, and again in the child of a fork. */
void service_use(const struct config *config, const struct config_files *files);

/* Do what was asked since, and see what has become of what runs. Returns at
 * once, but for a dump (dump.h). */
void service_heed(void);

/* Whether something runs that must be looked at again soon. */
bool service_is_busy(void);

/* The process ends: what runs is waited for, for a while, and what was asked
 * since is done. */
void service_end(void);

#endif
