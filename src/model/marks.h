/* SPDX-License-Identifier: MIT */
/* marks.h -- what the marks of a profile tell: instants and spans of time that
 * the program named, and when sampling began and ended. */
#ifndef MODEL_MARKS_H
#define MODEL_MARKS_H

#include "profile.h"

/* Remove the marks of PROFILE that were not between FROM and TO, in ns since
 * profile->start. A span that reaches into the window stays whole. */
void marks_clip(struct profile *profile, uint64_t from, uint64_t to);

/* How often sampling began in all processes. *SAMPLED is for how many ns it
 * ran, all together. 0: the file has no such marks. */
uint32_t marks_sessions(const struct profile *profile, uint64_t *sampled);

/* When the sampling ended that began with the mark of number START, in ns since
 * profile->start. */
uint64_t marks_session_end(const struct profile *profile, size_t start);

/* The time of MARK in ns since profile->start. */
uint64_t marks_time(const struct profile *profile,
                    const struct profile_mark *mark);

#endif
