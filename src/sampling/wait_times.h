/* SPDX-License-Identifier: MIT */
/*
 * wait_times.h -- how long a thread was in each call that its hooks measure
 * (capture/waiting.h). A look finds one place. The time since the look before
 * may belong to many short waits, at several places. Where it is measured, each
 * place gets its own time, once a look has found the thread there. Each thread
 * is known by its thread time ACCOUNT and its INDEX.
 * Context: sampler.
 */
#ifndef SAMPLING_WAIT_TIMES_H
#define SAMPLING_WAIT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/journal.h"
#include "thread_time.h"

/* The thread's hooks measure its calls from NOW on. */
void wait_times_begin(struct thread_time *account, uint32_t index,
                      uint64_t now);

/* HAS_WAITED: the thread waited for a part of the time since the last look. Its
 * hooks measure as long as that happens now and then. */
void wait_times_measure(struct thread_time *account, uint32_t index,
                        bool has_waited, uint64_t now);

/* Move the time in measured calls up to NOW from the rest of the thread's wall
 * time to the places of these calls. It stood in line for QUEUED ns since the
 * last look. Returns the part of QUEUED that was not in such calls.
 */
uint64_t wait_times_take(struct thread_time *account, uint32_t index,
                         uint64_t queued, uint64_t now);

/* The open wait has its time up to UNTIL, and is closed there. Returns true if
 * it is in a measured call: its rest is then still to be taken. */
bool wait_times_close(struct thread_time *account, uint64_t until);

/* A look has found the thread at PLACE. Returns whether it is in a measured
 * call there. The wait that is then opened shows *NS: the time of this call and
 * of earlier ones that no record shows yet. NULL: no wait is opened. A thread
 * with labels is not measured: labels change with each request, and the place
 * is that of an earlier one. */
bool wait_times_find(struct thread_time *account, uint32_t index,
                     const struct journal_place *place, uint64_t now,
                     uint64_t *ns);

/* Show all that has a place, up to NOW. IS_LAST: time without a place goes back
 * to the rest of wall time. */
void wait_times_flush(struct thread_time *account, uint32_t index, uint64_t now,
                      bool is_last);

#endif
