/* SPDX-License-Identifier: MIT */
/*
 * own_thread.h -- makes the sampler's thread, and sets it apart from those of
 * the program: no signal reaches it, it has its own descriptors and directory,
 * and runs as early as the kernel lets it.
 */
#ifndef AGENT_OWN_THREAD_H
#define AGENT_OWN_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Run MAIN on a detached thread with all signals blocked. Returns 0, or -1 with
 * errno. */
int own_thread_start(void *(*main)(void *));

/* On that thread, first: what can only be set from inside. It will wake at
 * instants that are PERIOD ns apart. Returns whether it has a descriptor table
 * of its own: a container may forbid that. */
bool own_thread_settle(uint64_t period);

/* In a child of that thread which shares our memory: be scheduled as the
 * program is. System calls alone. */
void own_thread_give_way(void);

#endif
