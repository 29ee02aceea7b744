/* SPDX-License-Identifier: MIT */
/*
 * weigh_maker.h -- spools with two threads (0 and 1 in the profile), two stacks
 * and a period of 1 ms, and what weighing makes of them.
 */
#ifndef TESTS_UNIT_WEIGH_MAKER_H
#define TESTS_UNIT_WEIGH_MAKER_H

#include "profile_maker.h"

/* Nodes 1 and 2 of the spool in the profile. */
enum { FIRST = PROFILE_NOT_SAMPLED + 1, SECOND };

/* Begin a spool with the two threads and the two stacks. */
void weigh_begin(void);

/* Add the spool at hand to PROFILE, made if it is NULL; the sums are right. */
struct profile *weigh_load(struct profile *profile);

/* THREAD has one running sample at NODE, with these values. */
void weigh_expect(const struct profile *profile, uint32_t thread, uint32_t node,
                  uint64_t count, uint64_t cpu, uint64_t wall);

/* What the recorder writes for threads that it never saw: what they used from
 * AGE on, in a bin. */
void weigh_add_unseen(uint32_t thread, uint64_t cpu, uint64_t age);

#endif
