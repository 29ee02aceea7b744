/* SPDX-License-Identifier: MIT */
/*
 * closing.h -- what is said on stderr of a run: what came of it, what went
 * wrong.
 */
#ifndef AGENT_CLOSING_H
#define AGENT_CLOSING_H

#include <stdint.h>

#include "config.h"
#include "sampler.h"

/* The trigger that was asked for (enum option_trigger) does not work here, for
 * the errno ERROR. */
void closing_no_trigger(uint64_t wanted, int error);

/* What RESULT lacks, a line for each: the spool ended before the process, or
 * something could not be seen. */
void closing_flaws(const struct config_files *files,
                   const struct sampler_result *result);

/* RESULT stands in PATH; writing it took WRITING ns. Said on a terminal or at
 * SPROF_LOG=info. */
void closing_wrote(const char *path, const struct sampler_result *result,
                   uint64_t writing);

/* The samples stand in SPOOL, and nobody wanted more: whoever gathers the
 * spools of many processes has a line of his own. Said at SPROF_LOG=info. */
void closing_kept(const char *spool, const struct sampler_result *result);

/* A flight recorder ends with its program, and nobody asked for what it has.
 * Said at SPROF_LOG=info. */
void closing_unwanted(void);

/* Nothing was sampled, so nothing is written. Said if many were asked and
 * nobody answered, or at SPROF_LOG=info. */
void closing_nothing(const struct sampler_result *result);

#endif
