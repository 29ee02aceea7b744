/* SPDX-License-Identifier: MIT */
/* result.h -- what came of sampling, for the one who ends it. */
#ifndef AGENT_RESULT_H
#define AGENT_RESULT_H

#include "sampler.h"

/* Set *RESULT to what the sampler has counted; what only its thread knows is
 * left 0 or false. Any thread, when the sampler has stopped. */
void result_collect(struct sampler_result *result);

#endif
