/* SPDX-License-Identifier: MIT */
/*
 * closing.h -- the line on stderr that says what came of a run.
 */
#ifndef AGENT_CLOSING_H
#define AGENT_CLOSING_H

#include <stdint.h>

#include "sampler.h"

/* RESULT stands in PATH; writing it took WRITING ns. Said on a terminal or at
 * SPROF_LOG=info. */
void closing_wrote(const char *path, const struct sampler_result *result,
                   uint64_t writing);

/* The samples stand in SPOOL, and nobody wanted more: whoever gathers the
 * spools of many processes has a line of his own. Said at SPROF_LOG=info. */
void closing_kept(const char *spool, const struct sampler_result *result);

/* Nothing was sampled, so nothing is written. Said if many were asked and
 * nobody answered, or at SPROF_LOG=info. */
void closing_nothing(const struct sampler_result *result);

#endif
