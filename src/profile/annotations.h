/* SPDX-License-Identifier: MIT */
/*
 * annotations.h -- takes what the program said of itself, labels and marks,
 * from a spool into the profile. For build.c and filter.c.
 */
#ifndef PROFILE_ANNOTATIONS_H
#define PROFILE_ANNOTATIONS_H

#include <stdint.h>

#include "parts.h"

/* Each takes the record of its kind. */
enum outcome annotations_add_label(struct build *build, const void *bytes);
enum outcome annotations_add_mark(struct build *build, const void *bytes);

/* The profile's set for the label ID of a record, INTERN_NONE if the spool has
 * not defined it. */
uint32_t annotations_set(const struct build *build, uint32_t id);

/* Leave in PROFILE the marks that were between FROM and TO, ns since
 * profile->start, or reached into it. */
void annotations_clip(struct profile *profile, uint64_t from, uint64_t to);

/* How often sampling began in all processes; *SAMPLED is for how many ns, all
 * together. 0: the file does not tell. */
uint32_t annotations_sessions(const struct profile *profile, uint64_t *sampled);

/* The time of MARK in ns since profile->start. */
uint64_t annotations_time(const struct profile *profile,
                          const struct profile_mark *mark);

#endif
