/* SPDX-License-Identifier: MIT */
/* discover.h -- finds the profiled processes that this user may look at. */
#ifndef CLI_PROCESS_DISCOVER_H
#define CLI_PROCESS_DISCOVER_H

#include <stdio.h>

#include "process.h"

/*
 * Call USE for each process that has a thread with the name of the library's
 * sampler. process_find_spool finds its spool, or why it cannot be read.
 * Returns 0, or -1 with errno set if /proc cannot be read.
 */
int discover_each(void (*use)(const struct process *process, void *context),
                  void *context);

/* Print to STREAM the processes that can be asked and watched, with their
 * commands, or that none can. */
void discover_list(FILE *stream);

#endif
