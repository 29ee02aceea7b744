/* SPDX-License-Identifier: MIT */
/* folded.h -- a profile as folded stacks, the input of flame graph tools. */
#ifndef WRITE_FOLDED_H
#define WRITE_FOLDED_H

#include <stdio.h>

#include "profile/profile.h"

/* Write PROFILE to STREAM. Returns 0, or -1 with errno set. */
int folded_write(FILE *stream, struct profile *profile);

#endif
