/* SPDX-License-Identifier: MIT */
/*
 * doze.h -- the time in which the sampler's thread exists, and has not begun.
 * Most processes are short. What the sampler needs (a spool, a trigger, a list
 * of threads) would cost them more than their own work. So its thread sleeps
 * until the process has used some CPU time, or has lived for some time. Another
 * thread that needs the sampler wakes it. A process that ends before that has
 * no file, and does not wait for the sampler.
 */
#ifndef AGENT_DOZE_H
#define AGENT_DOZE_H

#include <stdbool.h>
#include <stdint.h>

/* Get ready for the sampler's thread, which is about to be made. It sleeps
 * until CLOCK_MONOTONIC UNTIL at the latest. IS_FORKED: in the child of a fork.
 * Where many of these only wait (crowd.h), it sleeps until the child has used
 * CPU time. Called before that thread exists. */
void doze_begin(uint64_t until, bool is_forked);

/* Sleep. A thread that rings the sampler's bell ends the sleep if IS_CALLED
 * returns true. HEED is called each time that IS_CALLED was asked. Returns
 * whether the sampler is to begin; false: the process ends. Context: sampler.
 */
bool doze_sleep(bool (*is_called)(void), void (*heed)(void));

/* Whether the sampler has not begun. Context: any. */
bool doze_is_on(void);

/* Whether the sampler's thread had no CPU when it was to begin. By then the
 * process has used four times the CPU time at which the sampler begins.
 * Context: any. */
bool doze_is_late(void);

/* How long a program that makes its first thread waits, in ns, until the
 * sampler can see it. After that it goes on without. */
#define DOZE_ATTACH_NS 5000000000u

/* Sampling begins when it pays. Have it begin now, and wait until threads can
 * be interrupted, some 0.3 ms, but NS at most. What the caller is about to do
 * is then seen from its first moment. Context: any thread. */
void doze_hurry(uint64_t ns);

/* The sampler can see the threads, or never will: doze_hurry waits no longer.
 * Context: sampler. */
void doze_attached(void);

/* Keep the sampler from beginning until doze_release, around a fork and an
 * exec. Returns false if it has begun, or never will: then there is nothing to
 * release. Holds nest. A doze_release without a hold does nothing. Context:
 * any. */
bool doze_hold(void);
void doze_release(void);

/* Whatever holds the sampler does so no more: the process ends. The thread that
 * ends it may be in a signal handler that interrupted a fork. Context: any. */
void doze_end_holds(void);

/* Keep the sampler from ever beginning. Returns false if it has begun. Context:
 * any. */
bool doze_end(void);

#endif
