/* SPDX-License-Identifier: MIT */
/*
 * in_line.h -- the time that a thread stands in line for a CPU: how much, and
 * where. Each thread is known by its thread time ACCOUNT and its INDEX.
 * Context: sampler.
 */
#ifndef SAMPLING_IN_LINE_H
#define SAMPLING_IN_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/journal.h"
#include "thread_time.h"

/* Returns the time, in ns, for which the thread stood in line since the last
 * call. *TIMES becomes how often it got a CPU meanwhile. */
uint64_t in_line_read(struct thread_time *account, uint32_t index,
                      uint64_t *times);

/* The thread has run. Since the last reading it stood in line TIMES times, for
 * QUEUED ns together, before NOW. If the last look found it standing still, the
 * time up to that look is shown there, and the time that looks saw after it. If
 * it was in line once, for longer than DISTANCE ns, that time was there, too.
 * The rest has no place yet. */
void in_line_note(struct thread_time *account, uint32_t index, uint64_t queued,
                  uint64_t times, uint64_t distance, uint64_t now);

/* Whether a look may find the thread in line at another place than that of its
 * last sample. */
bool in_line_may_wait(const struct thread_time *account, uint32_t index);

/* The thread is in line at NOW, since its CPU clock read CLOCK. If a hook has
 * noted the place, this look finds it, as at a wait. */
void in_line_see(struct thread_time *account, uint32_t index, uint64_t clock,
                 uint64_t now);

/* A look at NOW has found the thread at PLACE. All of its time in line since
 * the look before is taken to be there. On average each place gets its part, as
 * with the time that the thread waits. */
void in_line_place(struct thread_time *account, uint32_t index,
                   const struct journal_place *place, uint64_t now);

/* No look has found the place: choose the most likely one. */
void in_line_guess(struct thread_time *account, uint32_t index, uint64_t now);

/* The same if no look will find it, or none has for a long time. */
void in_line_hurry(struct thread_time *account, uint32_t index, uint64_t now);

/* Show the time in line that has a place. Time that cannot be shown counts as
 * waiting. */
void in_line_flush(struct thread_time *account, uint32_t index, uint64_t now);

/* Show all time in line up to NOW. Time of which no place is known is a part of
 * the rest again. */
void in_line_settle(struct thread_time *account, uint32_t index, uint64_t now);

/* Show the time in line between the last look and END. The kernel shows it for
 * a thread that IS_ALIVE, not for one that has ended. If the time without a CPU
 * before the last look was mainly time in line, the rest is taken to be so,
 * too. */
void in_line_end(struct thread_time *account, uint32_t index, uint64_t end,
                 bool is_alive);

#endif
