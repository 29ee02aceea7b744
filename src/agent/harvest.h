/* SPDX-License-Identifier: MIT */
/*
 * harvest.h -- how a slot becomes a sample, and what a question is. Sampler
 * thread alone.
 */
#ifndef AGENT_HARVEST_H
#define AGENT_HARVEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loss.h"
#include "capture/slot.h"

/* Ask thread INDEX, whose CPU clock reads CLOCK, for a sample, which is to
 * stand for BETWEEN ns of wall time. Returns whether a signal was sent. */
bool harvest_ask(uint32_t index, uint64_t clock, uint64_t now,
                 uint64_t between);

/* Turn the slots that are DONE into samples: all, or only those whose WALKED
 * frames are complete and mean what the present module map says. RANDOM is any
 * number. */
void harvest_slots(bool walked_only);

/* Begin a harvest: samples of threads' own clocks ring the bell when EVERY many
 * have come. */
void harvest_begin_round(uint32_t every, uint64_t random);

/* After it has told its end, a thread runs no longer than that. */
#define HARVEST_LEAVING_NS 10000000u

/* The index of thread TID, which was alive at TIME, its CPU clock at CLOCK (or
 * CLOCK_NONE); THREADS_NONE if it is not profiled. */
uint32_t harvest_find_thread(pid_t tid, uint64_t time, uint64_t clock);

/* A question to thread INDEX, which has ended, is not answered any more. */
void harvest_thread_gone(uint32_t index);

/* Count all that is in flight as lost to CAUSE, and forget it. */
void harvest_give_up(enum loss cause);

/* Whether a thread that was asked at SINCE or later has not answered yet. */
bool harvest_is_waiting(uint64_t since);

/* A new number for a question. */
uint32_t harvest_sequence(void);

/* Answers go to LISTENER first, NULL for none; it returns whether the question
 * was its own. */
void harvest_listen(bool (*listener)(struct slot *slot));

#endif
