/* SPDX-License-Identifier: MIT */
/* stacks_deadlock.h -- the first part of stacks_text.h. */
#ifndef WRITE_STACKS_DEADLOCK_H
#define WRITE_STACKS_DEADLOCK_H

#include <stdio.h>

#include "stacks_text.h"

/* Every circle that has a thread which the filter keeps, each behind an empty
 * line. Returns 0, or -1 with errno set if memory is short. */
int stacks_deadlock_write(FILE *stream, struct stacks *stacks,
                          const struct stacks_text_options *options);

#endif
