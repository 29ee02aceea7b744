/* SPDX-License-Identifier: MIT */
/*
 * registry.h -- which threads have registered themselves, and since when. It
 * counts with SPROF_THREADS=registered only.
 */
#ifndef SAMPLING_REGISTRY_H
#define SAMPLING_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"

struct registry_moment {
    uint64_t time;  /* CLOCK_MONOTONIC in ns */
    uint64_t clock; /* CPU clock of the thread in ns */
};

/* A profile begins. Registered threads of this process stay registered; in the
 * child of a fork, the calling thread does. Returns 0, or -1 if memory is
 * short. Context: start. */
int registry_begin(const struct settings *settings);

/* Register the calling thread, and wake the sampler. If the thread was
 * registered before, the first time counts. Context: any. */
void registry_add_caller(void);

/* Whether thread TID is registered. If so, *SINCE becomes the time of its
 * registration. Context: any. */
bool registry_find(pid_t tid, struct registry_moment *since);

/* Returns a thread that has registered since it was last returned, or 0.
 * Context: sampler. */
pid_t registry_next(void);

/* Thread TID has ended: the next thread of that number is not registered.
 * Context: sampler. */
void registry_remove(pid_t tid);

#endif
