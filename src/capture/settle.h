/* SPDX-License-Identifier: MIT */
/*
 * settle.h -- makes a thread's real mask what the program believes of it, where
 * a number is ours no more (signals.h): what the thread blocked of it is really
 * blocked from then on, and one that was kept closed is opened. In handler,
 * the thread itself.
 */
#ifndef CAPTURE_SETTLE_H
#define CAPTURE_SETTLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

/* At once, or in CONTEXT, to which a handler returns. */
void settle_now(void);
void settle_in(ucontext_t *context);

/* Whether there is nothing to do. */
bool settle_is_done(void);

/* Whether thread TID has opened what was closed, as far as is remembered: else
 * it may block it still, though the program believes not. Any thread. */
bool settle_has_opened(pid_t tid);

/* What the calling thread's real mask blocks because we keep it closed; what is
 * closed no more is opened. */
extern __thread volatile uint64_t settle_shut;

#endif
