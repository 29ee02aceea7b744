/* SPDX-License-Identifier: MIT */
/*
 * guardian.h -- keeps the program's descriptors until its last thread has left.
 * When the main thread has called pthread_exit, the process ends with its last
 * thread. That thread runs exit(0). The sampler must not be that thread: it has
 * its own descriptor table. The program's table ends with the last other
 * thread, and unwritten output with it.
 */
#ifndef AGENT_GUARDIAN_H
#define AGENT_GUARDIAN_H

#include <stdbool.h>

/* Called when the main thread is about to leave. Start a thread that shares the
 * program's descriptors. It sleeps until the sampler has found that no other
 * thread is left, and then leaves as the last. Without it (no memory) the
 * sampler is the last. */
void guardian_start(void);

/* Whether this process has a guardian. Context: any thread. */
bool guardian_is_there(void);

#endif
