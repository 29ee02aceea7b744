/* SPDX-License-Identifier: MIT */
/*
 * registry.h -- the threads that registered themselves, for
 * SPROF_THREADS=registered.
 */
#ifndef AGENT_REGISTRY_H
#define AGENT_REGISTRY_H

#include <stdbool.h>
#include <sys/types.h>

/* Nobody is registered; in the child of a fork, only the calling thread if it
 * was. Returns 0, or -1 if memory is short. */
int registry_begin(void);

/* The calling thread registers. Any thread. */
void registry_add_caller(void);

/* Whether thread TID has registered. Context: sampler. */
bool registry_has(pid_t tid);

/* Thread TID has ended: who gets its number is not registered. */
void registry_remove(pid_t tid);

#endif
