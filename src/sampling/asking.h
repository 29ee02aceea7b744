/* SPDX-License-Identifier: MIT */
/*
 * asking.h -- which threads are asked at a look, and what, where the sampler's
 * questions are the trigger. Each thread is known by its thread time ACCOUNT
 * and its INDEX. Its CPU clock reads CLOCK at NOW.
 * Context: sampler.
 */
#ifndef SAMPLING_ASKING_H
#define SAMPLING_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_time.h"

/* The thread ran for RAN of the BETWEEN ns since the last look. */
void asking_saw(struct thread_time *account, uint64_t ran, uint64_t between);

/* Whether a thread that is awake is asked for a sample now. IS_IN_LINE: it is
 * not running. */
bool asking_is_time(struct thread_time *account, uint32_t index,
                    bool is_in_line);

/* Whether the thread may be asked: by its trigger, for its sake, and at the
 * present rate. */
bool asking_may(const struct thread_time *account, uint32_t index,
                uint64_t clock);

/* Ask the thread for a sample. It stands for a look that stands for BETWEEN ns
 * of a CPU, and for what the thread runs before it answers (asked_for). Returns
 * whether a signal was sent. */
bool asking_sample(struct thread_time *account, uint32_t index, uint64_t clock,
                   uint64_t now, uint64_t between);

/* The thread is in line. If it has lost its CPU outside a wait, some of its
 * time in line has no place, and it may be asked, ask where that is. The answer
 * is no sample, but told_at in its thread time. Returns whether a signal was
 * sent. */
bool asking_place(struct thread_time *account, uint32_t index, uint64_t clock,
                  uint64_t now);

#endif
