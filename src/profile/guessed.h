/* SPDX-License-Identifier: MIT */
/* guessed.h -- how much of a profile has a guess on its stacks. */
#ifndef PROFILE_GUESSED_H
#define PROFILE_GUESSED_H

#include <stdint.h>

#include "profile.h"

/* The sums of PROFILE's samples on whose stacks a caller was found by a search
 * (NODE_GUESSED). Returns 0, or -1 with errno set. */
int guessed_sum(const struct profile *profile, uint64_t values[VALUE_COUNT]);

#endif
