/* SPDX-License-Identifier: MIT */
/*
 * journal_short_threads.h -- writes records for threads that came and went
 * without any sample or look.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_SHORT_THREADS_H
#define JOURNAL_JOURNAL_SHORT_THREADS_H

#include <stdint.h>

/* Number of ages that are told apart. */
#define JOURNAL_SHORT_THREADS_AGES 32u

/* Write that all such threads together have used CPU ns so far between the age
 * of AGE ns and the next age. I is the index of the age. */
void journal_short_threads_add(unsigned i, uint64_t age, uint64_t cpu);

#endif
