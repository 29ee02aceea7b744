/* SPDX-License-Identifier: MIT */
/*
 * doze.h -- the sampler's thread exists, and has not begun. Most processes are
 * short: what the sampler needs (a spool, a trigger, a list of threads) would
 * cost them more than their own work. So its thread sleeps until the process
 * has used some CPU time, has lived for some time, or somebody needs it. A
 * process that ends before that has neither a file nor anybody to wait for.
 */
#ifndef AGENT_DOZE_H
#define AGENT_DOZE_H

#include <stdbool.h>
#include <stdint.h>

/* The sampler's thread is about to be made; it sleeps until CLOCK_MONOTONIC
 * UNTIL at the latest. Before there is one. */
void doze_begin(uint64_t until);

/* Sleep. Whoever rings the sampler's bell ends that if IS_CALLED says so; HEED
 * is called whenever it was asked. Returns whether the sampler is to begin;
 * false: the process ends. Sampler thread. */
bool doze_sleep(bool (*is_called)(void), void (*heed)(void));

/* Whether the sampler has not begun. Any context. */
bool doze_is_on(void);

/* The sampler is to begin now. Any context. */
void doze_wake(void);

/* Keep it from beginning until doze_release, around a fork and an exec. False
 * if it has begun, or never will: then there is nothing to release. Holds nest.
 * Any context. */
bool doze_hold(void);
void doze_release(void);

/* It is never to begin. False if it has. Any context. */
bool doze_end(void);

#endif
