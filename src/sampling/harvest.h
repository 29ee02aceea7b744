/* SPDX-License-Identifier: MIT */
/*
 * harvest.h -- asks threads for samples, and turns slots into samples.
 * Context: sampler.
 */
#ifndef SAMPLING_HARVEST_H
#define SAMPLING_HARVEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loss.h"
#include "capture/slot.h"

/* Turn the slots that are DONE into samples, after finishing unfinished walks.
 * A call during another one does nothing, and returns false.
 */
bool harvest_slots(void);

/* Read the module map again. Before that, the slots whose walk is over become
 * samples, while the old map still fits their addresses. */
void harvest_refresh_modules(void);

/* Begin a harvest: after EVERY further samples of threads' own clocks the bell
 * rings. RANDOM is any number. */
void harvest_begin_round(uint32_t every, uint64_t random);

/* Longest time, in ns, for which a thread runs on after it has reported its
 * end. */
#define HARVEST_LEAVING_NS 10000000u

/* Returns the index of thread TID, which was alive at TIME with its CPU clock
 * at CLOCK (or CLOCK_NONE). Returns THREADS_NONE if the thread is not profiled.
 */
uint32_t harvest_find_thread(pid_t tid, uint64_t time, uint64_t clock);

/* Thread INDEX has ended: it no longer answers its question. */
void harvest_thread_gone(uint32_t index);

/* Count all questions in flight as lost to CAUSE, and forget them. */
void harvest_give_up(enum loss cause);

/* Whether a thread that was asked at SINCE or later has not answered yet. */
bool harvest_is_waiting(uint64_t since);

/* Returns a new number for a question. */
uint32_t harvest_sequence(void);

/* Give answers first to LISTENER (NULL: to nobody), which returns whether the
 * question was its own. */
void harvest_listen(bool (*listener)(struct slot *slot));

#endif
