/* SPDX-License-Identifier: MIT */
/*
 * registry.h -- knows the threads that registered themselves, for
 * SPROF_THREADS=registered.
 */
#ifndef SAMPLING_REGISTRY_H
#define SAMPLING_REGISTRY_H

#include <stdbool.h>
#include <sys/types.h>

/* Begin without registered threads; in the child of a fork, with the calling
 * thread if it was registered. Returns 0, or -1 if memory is short.
 * Context: start. */
int registry_begin(void);

/* Register the calling thread. Context: any thread. */
void registry_add_caller(void);

/* Whether thread TID has registered. Context: sampler. */
bool registry_has(pid_t tid);

/* Thread TID has ended: the next thread of that number is not registered.
 * Context: sampler. */
void registry_remove(pid_t tid);

#endif
