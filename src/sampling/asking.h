/* SPDX-License-Identifier: MIT */
/*
 * asking.h -- which threads are asked at a look, and what the answers weigh,
 * where the sampler's questions are the trigger. Each thread is known by its
 * thread time ACCOUNT and its INDEX. Its CPU clock reads CLOCK at NOW.
 * Context: sampler.
 */
#ifndef SAMPLING_ASKING_H
#define SAMPLING_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_time.h"

/* Whether the thread runs at this instant: its clock, which has just read
 * CLOCK, reads more. It ran for RAN of the BETWEEN ns since the last look.
 * Returns false if questions are not its trigger. */
bool asking_finds(struct thread_time *account, uint32_t index, uint64_t clock,
                  uint64_t ran, uint64_t between);

/* Whether the thread, which is awake and was not found running, is asked for a
 * sample nevertheless. */
bool asking_is_time(const struct thread_time *account, uint32_t index);

/* Whether the thread may be asked: its trigger, its wait and the present rate
 * allow it. */
bool asking_may(const struct thread_time *account, uint32_t index,
                uint64_t clock);

/* Ask the thread for a sample. Returns whether a signal was sent. If so,
 * asking_weigh sets the weight of the answer (asked_for): BETWEEN ns of a CPU,
 * and what the thread runs before it answers. */
bool asking_sample(struct thread_time *account, uint32_t index, uint64_t clock,
                   uint64_t now);
void asking_weigh(struct thread_time *account, uint64_t between);

/* The thread is in line. Ask for its place, if it has lost its CPU outside a
 * wait, some of its time in line has no place, and it may be asked. The answer
 * is no sample: it becomes told_at in the thread time. Returns whether a signal
 * was sent. */
bool asking_place(struct thread_time *account, uint32_t index, uint64_t clock,
                  uint64_t now);

#endif
