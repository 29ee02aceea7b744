/* SPDX-License-Identifier: MIT */
/*
 * guardian.h -- keeps the program's descriptors until its last thread has left.
 * A process whose main thread called pthread_exit ends when the last thread
 * does, and that thread runs exit(0). The sampler must not be that thread: it
 * has its own descriptor table. With the last other thread the program's table
 * is gone, and unwritten output with it.
 */
#ifndef AGENT_GUARDIAN_H
#define AGENT_GUARDIAN_H

#include <stdbool.h>

/* Called when the main thread is about to leave. Start a thread that shares the
 * program's descriptors. It sleeps until the sampler has found that no other
 * thread is left, and then leaves as the last. Without it (no memory) the
 * sampler is the last. */
void guardian_start(void);

/* Called when only the sampler is left, and there is no guardian. The main
 * thread ended by its own system call (exit(2)), or a filter of seccomp(2)
 * killed it. Write the profile and end the process with the status that it
 * would have; since Linux 5.17 that is the last thread's. Returns if there is a
 * guardian, or the main thread has not ended. The sampler has left its loop.
 * Context: sampler. */
void guardian_stand_in(bool is_single_thread);

/* Whether this process has a guardian. Context: any thread. */
bool guardian_is_there(void);

#endif
