/* SPDX-License-Identifier: MIT */
/*
 * thread_life.h -- what a thread does for us at its beginning and at its end,
 * because nobody else can: it takes over its creator's belief of the signal
 * mask, arms a timer for the time before its first period is over, and at its
 * end says how much CPU time it used.
 */
#ifndef AGENT_THREAD_LIFE_H
#define AGENT_THREAD_LIFE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

/* A thread that has ended. */
struct thread_end {
    pid_t tid;
    uint64_t start, time; /* CLOCK_MONOTONIC */
    uint64_t cpu;         /* its CPU clock at the end */
    char name[16];        /* that it had then */
};

/* In the constructor, once. */
void thread_life_begin(void);

/* In the child of a fork: nobody has ended here yet. */
void thread_life_reset(void);

/*
 * New threads arm a timer that carries COOKIE and first expires after FIRST ns
 * of CPU time, then every INTERVAL ns (0: once). COOKIE 0: they arm none.
 * Context: sampler.
 */
void thread_life_use_timers(uint64_t cookie, uint64_t first, uint64_t interval);

/* pthread_create(3) with all that. Any thread of the program. */
int thread_life_create(pthread_t *thread, const pthread_attr_t *attributes,
                       void *(*start)(void *), void *argument);

/* thrd_create(3), likewise. */
int thread_life_create_c11(thrd_t *thread, thrd_start_t start, void *argument);

/* The program wants the last key of thread-specific data, which is ours: give
 * it up. Ends of threads are seen by the sampler alone then. False if we have
 * none. Any thread. */
bool thread_life_give_key(void);

/* The next thread that has ended, in *END; false if there is none. Context:
 * sampler. */
bool thread_life_next_end(struct thread_end *end);

#endif
