/* SPDX-License-Identifier: MIT */
/*
 * output.h -- from the spool to the files that the user asked for, at the end
 * of the process: the one place where the report library is loaded.
 */
#ifndef AGENT_OUTPUT_H
#define AGENT_OUTPUT_H

#include <stdint.h>

#include "config.h"

/* Find out where the report library must be, while our own path is still what
 * the loader was given. In the constructor. */
void output_begin(void);

struct output_result {
    uint64_t ns; /* that writing took */
};

/*
 * Have libsprof-report.so write FILES from the spool, which is closed. On
 * success the spool is removed unless CONFIG keeps it. Returns 0, or -1 having
 * said in one line what failed; the spool is then kept. Allocates: outside
 * every handler and lock.
 */
int output_write(const struct config *config, const struct config_files *files,
                 struct output_result *result);

#endif
