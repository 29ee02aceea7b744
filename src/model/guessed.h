/* SPDX-License-Identifier: MIT */
/* guessed.h -- how much of a profile has stacks with a guessed caller. */
#ifndef MODEL_GUESSED_H
#define MODEL_GUESSED_H

#include <stdint.h>

#include "profile.h"

/* Sum up in VALUES the samples of PROFILE whose stacks have a caller that was
 * found by a search (NODE_GUESSED). Returns 0, or -1 with errno set. */
int guessed_sum(const struct profile *profile, uint64_t values[VALUE_COUNT]);

#endif
