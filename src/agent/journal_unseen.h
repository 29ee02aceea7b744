/* SPDX-License-Identifier: MIT */
/*
 * journal_unseen.h -- the records of the journal for threads that came and went
 * without being met by a sample or a look. Sampler thread alone, but for
 * journal_unseen_begin.
 */
#ifndef AGENT_JOURNAL_UNSEEN_H
#define AGENT_JOURNAL_UNSEEN_H

#include <stdint.h>

/* Ages are told apart as so many. */
#define JOURNAL_UNSEEN_AGES 32u

/* A new file has begun. */
void journal_unseen_begin(void);

/* Such threads have used CPU ns so far, all together, between the ages of AGE
 * ns and the next; I numbers them. */
void journal_unseen_add(unsigned i, uint64_t age, uint64_t cpu);

#endif
