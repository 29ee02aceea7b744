/* SPDX-License-Identifier: MIT */
/*
 * marks.h -- instants and spans of time that the program names, in the profile
 * while it is sampled.
 */
#ifndef AGENT_MARKS_H
#define AGENT_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

/* None is taken yet. Returns 0, or -1 if memory is short. In the child of a
 * fork, too: what waits in its ring is its parent's. */
int marks_begin(void);

/* From now on marks are taken, or no more. Context: sampler. */
void marks_open(void);
void marks_close(void);
bool marks_are_open(void);

/* Take a mark of KIND, a USER or SPAN, called NAME, of the calling thread.
 * Returns 0 or an enum sprof_error (sprof.h). Context: any thread. Safe in
 * signals. Locks: none. */
int marks_put(enum mark_kind kind, const char *name, uint64_t time,
              uint64_t duration);

/* Write what was taken into the journal. Context: sampler. */
void marks_write(void);

#endif
