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

/* Whether there is one in this process. Any thread. */
bool guardian_is_there(void);

#endif
