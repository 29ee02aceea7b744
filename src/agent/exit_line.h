/* SPDX-License-Identifier: MIT */
/*
 * exit_line.h -- what is said of a run on stderr: its result, and what went
 * wrong.
 */
#ifndef AGENT_EXIT_LINE_H
#define AGENT_EXIT_LINE_H

#include <stdint.h>

#include "config.h"
#include "sampler.h"

/* The trigger that was asked for (enum option_trigger) does not work here, for
 * the errno ERROR. */
void exit_line_no_trigger(uint64_t wanted, int error);

/* Say what RESULT lacks, a line for each: the spool ended before the process,
 * or the sampler could not see something. */
void exit_line_flaws(const struct config_files *files,
                     const struct sampler_result *result);

/* Say that RESULT stands in PATH and that writing it took WRITING ns. Said on a
 * terminal or at SPROF_LOG=info. */
void exit_line_wrote(const char *path, const struct sampler_result *result,
                     uint64_t writing);

/* Say that the samples stand in SPOOL, where nothing more was asked for. A
 * command that gathers the spools of many processes prints its own line. Said
 * at SPROF_LOG=info. */
void exit_line_kept(const char *spool, const struct sampler_result *result);

/* Say that a flight recorder has ended with its program, and that no request
 * for its profile came. Said at SPROF_LOG=info. */
void exit_line_unwanted(void);

/* Say that nothing was sampled, so nothing is written. Said if many threads
 * were asked and none answered, or at SPROF_LOG=info. */
void exit_line_nothing(const struct sampler_result *result);

#endif
