/* SPDX-License-Identifier: MIT */
/*
 * output.h -- from the spool to the files that the user asked for, at the end
 * of the process: the one place where the report library is loaded.
 */
#ifndef AGENT_OUTPUT_H
#define AGENT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* Find out where the report library must be, while our own path is still what
 * the loader was given. In the constructor. */
void output_begin(void);

/* Where that is, or where it should be. Static. */
const char *output_report_path(void);

/* What libsprof-report.so is run with to write FILES (write/report.h), and as
 * much as it answers. */
#define OUTPUT_ARGUMENTS (CONFIG_OUTPUTS + 5)
#define OUTPUT_ANSWER 520
void output_arguments(const struct config *config,
                      const struct config_files *files,
                      const char *arguments[OUTPUT_ARGUMENTS]);

/* The same to print the stacks of all threads with this NONCE, in digits. */
void output_stacks_arguments(const struct config *config,
                             const struct config_files *files,
                             const char *nonce,
                             const char *arguments[OUTPUT_ARGUMENTS]);

/* Whether ANSWER, of which the newline is removed, says that all is well. */
bool output_is_ok(char *answer);

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
