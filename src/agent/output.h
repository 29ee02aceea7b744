/* SPDX-License-Identifier: MIT */
/*
 * output.h -- turns the spool into the files that the user asked for, at the
 * end of the process. The profiler runs the report library as a program, and
 * never loads it. requests.c also runs the report library, while the program
 * goes on.
 */
#ifndef AGENT_OUTPUT_H
#define AGENT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* Find the path of the report library. Called in the constructor. The path that
 * the loader knows for this library is still valid then. */
void output_begin(void);

/* OUTPUT_ARGUMENTS limits the number of arguments, NULL included. OUTPUT_ANSWER
 * limits the size of the answer of libsprof-report.so, in bytes. The function
 * sets ARGUMENTS, with which libsprof-report.so writes FILES (write/report.h).
 * With NONCE, a number in digits, it prints the stacks of all threads. */
#define OUTPUT_ARGUMENTS (CONFIG_OUTPUTS + 5)
#define OUTPUT_ANSWER 520
void output_arguments(const struct config *config,
                      const struct config_files *files, const char *nonce,
                      const char *arguments[OUTPUT_ARGUMENTS]);

/*
 * Write the names of its functions into the spool of FILES, if the command that
 * collects it could not find them: a file may be gone from its path, or visible
 * to this process alone. Not after CLOCK_MONOTONIC UNTIL. If that fails, the
 * spool stays as it is. Otherwise as output_convert_spool.
 */
void output_name_spool(const struct config *config,
                       const struct config_files *files, uint64_t until);

/* Whether ANSWER reports success. Removes the newline of ANSWER. */
bool output_is_ok(char *answer);

struct output_result {
    uint64_t ns;         /* duration of the writing */
    bool is_late;        /* time ran out */
    char complaint[900]; /* one line about the failure; else "" */
};

/* Set the complaint of *RESULT from WHAT, WHY and the command that makes FILES
 * from the spool. Returns -1. */
int output_keep_spool(const struct config_files *files,
                      struct output_result *result, const char *what,
                      const char *why);

/*
 * Run libsprof-report.so, but no longer than until CLOCK_MONOTONIC UNTIL, and
 * only with a place for it (crowd.h). It writes FILES from the spool, which
 * must be closed. On success the spool is removed unless CONFIG keeps it. Fills
 * in *RESULT. Returns 0. Returns -1 on failure; the spool then stays.
 * Async-signal-safe. The caller has the root directory that the program started
 * with.
 */
int output_convert_spool(const struct config *config,
                         const struct config_files *files, uint64_t until,
                         struct output_result *result);

#endif
