/* SPDX-License-Identifier: MIT */
/*
 * fork_time.h -- measures the CPU time of the calling thread's forks. No signal
 * may interrupt a fork: the kernel would begin the fork again, and repeated
 * signals would keep a large fork from ever ending. A held-back signal does not
 * help either: the kernel keeps only one, however long the fork takes. So the
 * fork handlers (pthread_atfork(3)) measure the time. This time becomes one
 * sample of the stack that called fork. The thread that forks calls all these
 * functions.
 * Context: hook.
 */
#ifndef SAMPLING_FORK_TIME_H
#define SAMPLING_FORK_TIME_H

#include "base/arch.h"

/* Called by a hook around a function that forks. AT is where the stack of the
 * hook's caller begins (arch_entry). The hook passes the result of
 * fork_time_enter to fork_time_leave. A fork handler may call fork again before
 * fork_time_leave is called. */
const struct regs *fork_time_enter(const struct regs *at);
void fork_time_leave(const struct regs *outer);

/* Measure from fork_time_begin to fork_time_end. The first is called after all
 * other handlers that run before the fork. The second is called before all
 * other handlers that run after the fork. */
void fork_time_begin(void);
void fork_time_end(void);

/* Take the sample, in the parent. The sampler and the triggers run again as
 * before the fork. No hook is called for __fork: the stack of its sample also
 * has the caller of the fork handlers. */
void fork_time_take(void);

/* Forget the measurement of the fork, in the child. */
void fork_time_forget(void);

#endif
