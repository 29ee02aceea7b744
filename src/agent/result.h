/* SPDX-License-Identifier: MIT */
/* result.h -- the result of sampling, for the thread that ends it. */
#ifndef AGENT_RESULT_H
#define AGENT_RESULT_H

#include "sampler.h"

/* Set *RESULT to what the sampler has counted. What only the sampler's thread
 * knows is left 0 or false. Any thread may call it when the sampler has
 * stopped. */
void result_collect(struct sampler_result *result);

#endif
