/* SPDX-License-Identifier: MIT */
/* stacks_deadlock.h -- the deadlocks, the first part of stacks_text.h. */
#ifndef SHOW_STACKS_DEADLOCK_H
#define SHOW_STACKS_DEADLOCK_H

#include <stdio.h>

#include "stacks_text.h"

/* Print every circle in which the filter keeps a thread, each behind an empty
 * line. Returns 0, or -1 with errno set if memory is short. */
int stacks_deadlock_write(FILE *stream, struct stacks *stacks,
                          const struct stacks_text_options *options);

#endif
