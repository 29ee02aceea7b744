/* SPDX-License-Identifier: MIT */
/*
 * sampler_thread.h -- the sampler's thread as such: makes it, sets it apart
 * from the threads of the program, and waits for it. No signal reaches it. It
 * has its own descriptors and directory. It runs as early as the kernel allows.
 * sampler.h has its work.
 */
#ifndef SAMPLING_SAMPLER_THREAD_H
#define SAMPLING_SAMPLER_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Run MAIN on a detached thread with all signals blocked. Returns 0, or -1:
 * with errno, or because the thread was made or given up earlier.
 * Context: any thread. */
int sampler_thread_start(void *(*main)(void *));

/* If the thread was not made yet, it never will be: it counts as one that has
 * left.
 * Context: any thread. */
void sampler_thread_give_up(void);

/* Whether the thread was made, or given up. Context: any. */
bool sampler_thread_is_launched(void);

/* Set what only the thread itself can set; the sampler's thread calls this
 * first. It will wake at instants that are PERIOD ns apart. Returns whether it
 * has a descriptor table of its own, which a container may forbid.
 * Context: sampler. */
bool sampler_thread_settle(uint64_t period);

/* sampler_thread_leave, called on the sampler's thread: it has left its loop.
 * sampler_thread_has_left, which any thread may call: whether it has. */
void sampler_thread_leave(void);
bool sampler_thread_has_left(void);

/* Whether the thread is about to run, or still runs its loop. Makes a system
 * call.
 * Context: any thread. */
bool sampler_thread_is_there(void);

/* Whether the calling thread is the sampler's. Context: any. */
bool sampler_thread_is_caller(void);

/* Wait until WORD, which the sampler sets and wakes, is VALUE; or until the
 * sampler is gone; or for NS. Only time in which the caller could have been
 * woken counts, because the process or the whole machine may be stopped
 * meanwhile. Returns whether WORD is VALUE.
 * Context: any thread. */
bool sampler_thread_wait_for(_Atomic uint32_t *word, uint32_t value,
                             uint64_t ns);

/* The same, until the sampler has left its loop: it has its last records to
 * write. Returns whether it has left.
 * Context: any thread. */
bool sampler_thread_wait(uint64_t ns);

/* Wait until the kernel has removed the sampler's thread, which has left its
 * loop: for NS at most. Returns whether there is no such thread.
 * Context: any thread. */
bool sampler_thread_wait_gone(uint64_t ns);

/* Wait until the sampler has left its loop, however long that takes, and then
 * until the kernel has removed its thread.
 * Context: any thread. */
void sampler_thread_wait_end(void);

#endif
