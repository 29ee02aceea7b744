/* SPDX-License-Identifier: MIT */
/*
 * guardian.h -- keeps the program's descriptors until its last thread has left.
 * A process whose main thread called pthread_exit ends when the last thread
 * does, and that thread runs exit(0). The sampler must not be the one: it has a
 * descriptor table of its own, and with the last other thread the program's is
 * gone, its unwritten output with it.
 */
#ifndef AGENT_GUARDIAN_H
#define AGENT_GUARDIAN_H

#include <stdbool.h>

/* The main thread is about to leave: start a thread that shares the program's
 * descriptors, sleeps until the sampler has found that nobody else is left, and
 * then leaves as the last. Without it (no memory) the sampler is the last. */
void guardian_start(void);

/* Nobody is left but the sampler, and there is no guardian: the main thread
 * ended by a system call of its own (exit(2), or a filter of seccomp(2) killed
 * it). Write the profile and end the process with the status that it would
 * have; since Linux 5.17 that is the last thread's. Returns if there is a
 * guardian, or the main thread has not ended. Context: sampler, when it has
 * left its loop. */
void guardian_stand_in(bool is_single_thread);

/* Whether there is one in this process. Any thread. */
bool guardian_is_there(void);

#endif
