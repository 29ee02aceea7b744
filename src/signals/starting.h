/* SPDX-License-Identifier: MIT */
/*
 * starting.h -- threads that are about to start a program (exec, posix_spawn),
 * and threads that change a disposition meanwhile. The started program inherits
 * what the kernel ignores, so no thread may be between two states then. Threads
 * of this process call these functions. Context: any.
 */
#ifndef SIGNALS_STARTING_H
#define SIGNALS_STARTING_H

#include <stdbool.h>

/* Note that the calling thread is about to start a program: starting_is_on from
 * now on. Waits until the changes that began before have ended, for 1 s at
 * most. One of them may be below the handler in which this is called. */
void starting_begin(void);

/* Note that it has, or has failed. Returns whether no thread is about to start
 * a program any more. */
bool starting_end(void);

bool starting_is_on(void);

/* Called around a change of what the kernel ignores, which obeys
 * starting_is_on. */
void starting_begin_change(void);
void starting_end_change(void);

/* Called in the child of a fork, in which none of those threads exist. Returns
 * whether any thread was about to start a program. */
bool starting_after_fork(void);

#endif
