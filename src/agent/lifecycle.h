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

/* What comes now is to be seen from its first moment: if sampling has not begun
 * (doze.h), begin and wait for that. Any thread, not in handler. */
void lifecycle_hurry(void);

/* Whether it runs and has not begun to sample (doze.h). Any context. */
bool lifecycle_is_early(void);

/* The process is not to have a thread of ours: what was sampled is written, as
 * before an exec, and the thread has left on return. False if it is not
 * sampled. Sampling begins again by lifecycle_come_back (not in handler), when
 * the program makes a thread, and in its children; what its first thread did
 * meanwhile is known by its clocks. errno is kept. */
bool lifecycle_stand_aside(void);
void lifecycle_come_back(void);

/*
 * End sampling for REASON and write the profile. The first call does it; others
 * that come meanwhile wait for it; later ones return at once. Does nothing in a
 * process that is not the one that started (a raw clone, a vfork child).
 */
void lifecycle_end(enum end_reason reason);

/*
 * SIGNO is about to end the process by its default action: the same, for that.
 * All other threads stand still meanwhile, and writing may not take long; if
 * this comes again after a moment it breaks off, and leaves the spool. Returns
 * whether the caller is to let the signal act; false if it interrupted the
 * thread that ends the process, which will do that itself. In a handler.
 */
bool lifecycle_end_for_signal(int signo);

/* A hook calls FORK_BY with ARGUMENT, which forks, and returns what that does.
 * The child's sampler begins when all fork handlers have run. The stack of the
 * hook's caller begins with AT (arch_entry). Any context. */
pid_t lifecycle_fork(pid_t (*fork_by)(void *), void *argument,
                     const struct regs *at);

/* An exec, for which lifecycle_end(END_EXEC) was called, has failed: sampling
 * begins again, with a spool of its own. errno is kept. */
void lifecycle_after_failed_exec(void);

#endif
