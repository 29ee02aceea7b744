/* SPDX-License-Identifier: MIT */
/*
 * sampler_thread.h -- the sampler's thread as such: it is made, set apart from
 * the threads of the program (no signal reaches it, it has its own descriptors
 * and directory, and runs as early as the kernel lets it), and waited for.
 * What it does is in sampler.h.
 */
#ifndef AGENT_SAMPLER_THREAD_H
#define AGENT_SAMPLER_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Process PID has none yet. Called again in the child of a fork. */
void sampler_thread_begin(pid_t pid);

/* Run MAIN on a detached thread with all signals blocked. Returns 0, or -1 with
 * errno, or because the thread was made or given up before. */
int sampler_thread_start(void *(*main)(void *));

/* If it has not been made, it will not be: it is as one that has left. */
void sampler_thread_give_up(void);

/* Whether it was made, or given up. Any context. */
bool sampler_thread_is_launched(void);

/* On that thread, first: what can only be set from inside. It will wake at
 * instants that are PERIOD ns apart. Returns whether it has a descriptor table
 * of its own: a container may forbid that. */
bool sampler_thread_settle(uint64_t period);

/* In a child of that thread which shares our memory: be scheduled as the
 * program is. System calls alone. */
void sampler_thread_give_way(void);

/* On that thread: it has left its loop; and whether that is so, which any
 * thread may ask. */
void sampler_thread_leave(void);
bool sampler_thread_has_left(void);

/* Whether it is about to run, or still heeds somebody; a system call. Any
 * thread. */
bool sampler_thread_is_there(void);

/* Whether it is the calling thread. Any thread, in handler. */
bool sampler_thread_is_caller(void);

/* Wait until WORD, which the sampler sets and wakes, is VALUE: for NS at most
 * in which the caller could have been woken (time in which the process is
 * stopped, or the whole machine, is nobody's fault), and no longer than there
 * is a sampler. Whether it is VALUE. Any thread. */
bool sampler_thread_wait_for(_Atomic uint32_t *word, uint32_t value,
                             uint64_t ns);

/* The same, until it has left its loop, for 10 s at most: it has its last
 * records to write. Whether it has left. */
bool sampler_thread_wait(void);

/* It has left its loop: wait until the kernel has done with it, NS at most.
 * Any thread. */
void sampler_thread_wait_gone(uint64_t ns);

/* Wait until it has left its loop, however long that takes, and then until the
 * kernel has done with it. */
void sampler_thread_wait_end(void);

#endif
