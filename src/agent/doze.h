/* SPDX-License-Identifier: MIT */
/*
 * doze.h -- the time in which the sampler's thread exists, and has not begun.
 * Most processes are short. A spool, a trigger and a list of threads would cost
 * them more than their own work. So its thread sleeps until the process has
 * used some CPU time, or has lived for some time. Another thread that needs the
 * sampler wakes it. A process that ends before that has no file, and does not
 * wait for the sampler.
 */
#ifndef AGENT_DOZE_H
#define AGENT_DOZE_H

#include <stdbool.h>
#include <stdint.h>

/* Prepare for the sampler's thread, which is about to be made. It sleeps until
 * CLOCK_MONOTONIC UNTIL at the latest. IS_FORKED: in the child of a fork. Where
 * many of these only wait (crowd.h), it sleeps until the child has used CPU
 * time. Called before that thread exists. */
void doze_begin(uint64_t until, bool is_forked);

/* Sleep. A thread that rings the sampler's bell ends the sleep if IS_CALLED
 * returns true. HEED is called after each call of IS_CALLED. Returns whether
 * the sampler is to begin; false: the process ends. Context: sampler. */
bool doze_sleep(bool (*is_called)(void), void (*heed)(void));

/* Whether the sampler has not begun. Context: any. */
bool doze_is_on(void);

/* Whether the sampler's thread had no CPU when it was to begin: the process has
 * used four times the CPU time at which the sampler begins. Context: any. */
bool doze_is_late(void);

/* Longest wait, in ns, of a program that makes its first thread, until the
 * sampler can see it. After that it goes on unseen. */
#define DOZE_ATTACH_NS 5000000000u

/* Let sampling begin now, and not when it is worth its cost. Wait until threads
 * can be interrupted, some 0.3 ms, but NS at most. The caller's next action is
 * then seen from its first moment. Context: any thread. */
void doze_hurry(uint64_t ns);

/* The sampler can see the threads, or never will: doze_hurry waits no longer.
 * Context: sampler. */
void doze_attached(void);

/* Keep the sampler from beginning until doze_release, around a fork and an
 * exec. Returns false if it has begun, or never will: then no release is due.
 * Holds nest. A doze_release without a hold does nothing. Context: any. */
bool doze_hold(void);
void doze_release(void);

/* The process ends: no hold counts any more. The thread that ends it may be in
 * a signal handler that interrupted a fork. Context: any. */
void doze_end_holds(void);

/* Keep the sampler from ever beginning. Returns false if it has begun. Context:
 * any. */
bool doze_end(void);

#endif
