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
    uint64_t ns;         /* that writing took */
    char complaint[900]; /* what failed, in one line; else empty */
};

/*
 * Have libsprof-report.so write FILES from the spool, which is closed, in no
 * more than LIMIT ns. On success the spool is removed unless CONFIG keeps it.
 * Fills in *RESULT; returns 0, or -1 and the spool is kept. Async-signal-safe;
 * on a thread whose root is that of the program's start.
 */
int output_write(const struct config *config, const struct config_files *files,
                 uint64_t limit, struct output_result *result);

#endif
