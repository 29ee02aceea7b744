/* SPDX-License-Identifier: MIT */
/*
 * mask_sync.h -- where a number is no longer ours (signals.h), makes a thread's
 * real mask what the program believes. What the thread blocked of the number is
 * really blocked from then on. A number that was kept closed is opened. The
 * thread itself calls these functions. Context: any.
 */
#ifndef SIGNALS_MASK_SYNC_H
#define SIGNALS_MASK_SYNC_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

/* Make the calling thread's mask real: at once, or in CONTEXT, to which a
 * handler returns. */
void mask_sync_now(void);
void mask_sync_in(ucontext_t *context);

/* Whether there is nothing to do in the calling thread. */
bool mask_sync_is_done(void);

/* Whether thread TID is known to have opened what was closed. If not, it may
 * still block it, though the program believes otherwise. Context: any thread.
 */
bool mask_sync_has_opened(pid_t tid);

/* The numbers that the calling thread's real mask blocks because we keep them
 * closed. A number that is no longer closed is opened. */
extern __thread volatile uint64_t mask_sync_shut;

#endif
