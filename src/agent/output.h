/* SPDX-License-Identifier: MIT */
/*
 * output.h -- from the spool to the files that the user asked for, at the end
 * of the process. The profiler runs the report library as a program; it never
 * loads it. service.c runs it, too, while the program goes on.
 */
#ifndef AGENT_OUTPUT_H
#define AGENT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* Find out where the report library must be. Called in the constructor, while
 * our own path is still the one that the loader was given. */
void output_begin(void);

/* The path where the report library is, or where it should be. Static. */
const char *output_report_path(void);

/* The arguments with which libsprof-report.so writes FILES (write/report.h),
 * and the size of its answer in bytes. */
#define OUTPUT_ARGUMENTS (CONFIG_OUTPUTS + 5)
#define OUTPUT_ANSWER 520
void output_arguments(const struct config *config,
                      const struct config_files *files,
                      const char *arguments[OUTPUT_ARGUMENTS]);

/* The arguments with which it prints the stacks of all threads, with this
 * NONCE, in digits. */
void output_stacks_arguments(const struct config *config,
                             const struct config_files *files,
                             const char *nonce,
                             const char *arguments[OUTPUT_ARGUMENTS]);

/* Whether ANSWER reports success. Removes the newline of ANSWER. */
bool output_is_ok(char *answer);

struct output_result {
    uint64_t ns;         /* duration of the writing */
    char complaint[900]; /* what failed, in one line; else empty */
};

/*
 * Have libsprof-report.so write FILES from the spool, which is closed, in no
 * more than LIMIT ns. On success the spool is removed unless CONFIG keeps it.
 * Fills in *RESULT. Returns 0, or -1 and the spool is kept. Async-signal-safe.
 * The caller is a thread whose root is that of the program's start.
 */
int output_convert_spool(const struct config *config,
                         const struct config_files *files, uint64_t limit,
                         struct output_result *result);

#endif
