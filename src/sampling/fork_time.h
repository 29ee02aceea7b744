/* SPDX-License-Identifier: MIT */
/*
 * fork_time.h -- measures the CPU time of the calling thread's forks. Nothing
 * may interrupt a fork: a signal that came again and again would make a large
 * fork begin anew for ever. And the kernel holds back only one signal, however
 * long the fork takes. So the time is measured between the fork handlers
 * (pthread_atfork(3)), and becomes one sample of the stack that called fork.
 * The thread that forks calls all these functions.
 * Context: hook.
 */
#ifndef SAMPLING_FORK_TIME_H
#define SAMPLING_FORK_TIME_H

#include "base/arch.h"

/* Called by a hook around a function that forks. AT is where the stack of the
 * hook's caller begins (arch_entry). The hook gives the result of
 * fork_time_enter to fork_time_leave, because a handler may fork on top. */
const struct regs *fork_time_enter(const struct regs *at);
void fork_time_leave(const struct regs *outer);

/* fork_time_begin is called when all handlers before the fork have run, and
 * fork_time_end before the handlers after it. */
void fork_time_begin(void);
void fork_time_end(void);

/* Take the sample: in the parent, when all is as it was before the fork. The
 * sample of a fork without a hook (__fork) has the caller of the fork handlers
 * on its stack. */
void fork_time_take(void);

/* Forget the fork, in the child. */
void fork_time_forget(void);

#endif
