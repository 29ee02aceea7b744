/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h -- the life of the profiler in a process: it starts in the
 * constructor, steps aside around fork and exec, and ends once, however the
 * process ends.
 */
#ifndef AGENT_LIFECYCLE_H
#define AGENT_LIFECYCLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arch.h"
#include "store/layout.h"

/* Let sampling see the caller's next action from its first moment: if it has
 * not begun (doze.h), begin and wait for that. The caller is in no handler.
 * Context: any thread. */
void lifecycle_hurry(void);

/* Whether the profiler runs and has not begun to sample (doze.h). Context: any.
 */
bool lifecycle_is_early(void);

/* Called when the process must not have our thread. The samples are written, as
 * before an exec, and the thread has left on return. Returns false if the
 * process is not sampled. lifecycle_come_back (not in a handler) begins
 * sampling again, when the program makes a thread. It also begins again in the
 * children. The first thread's clocks show its time meanwhile. errno is
 * kept. */
bool lifecycle_stand_aside(void);
void lifecycle_come_back(void);

/*
 * End sampling for REASON and write the profile. The first call does it. Calls
 * that come meanwhile wait for it, and later ones return at once. Does nothing
 * in another process than the one that started (a raw clone, a vfork child).
 */
void lifecycle_end(enum end_reason reason);

/* As lifecycle_end, on a stack of our own (ending_signals.h) if there is work
 * to do. Context: any. */
void lifecycle_end_apart(enum end_reason reason);

/* The calling thread is about to start a program (mask_before_exec). While
 * another thread ends the process, that program would inherit the dispositions
 * of that time (mute_signals.h). So the caller waits for the end. A child that
 * shares our memory and has a copy of the dispositions restores them. Context:
 * any. */
void lifecycle_before_start(void);

/* Call FORK_BY with ARGUMENT, which forks, and return its result. Called by a
 * hook. The child's sampler begins when all fork handlers have run. AT is where
 * the stack of the hook's caller begins (arch_entry). Context: any. */
pid_t lifecycle_fork(pid_t (*fork_by)(void *), void *argument,
                     const struct regs *at);

/* An exec, for which lifecycle_end(END_EXEC) was called, has failed. Sampling
 * begins again, with a new spool. errno is kept. */
void lifecycle_after_failed_exec(void);

#endif
