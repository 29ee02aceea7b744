/* SPDX-License-Identifier: MIT */
/*
 * thread_ends.h -- what a thread itself does for us at its beginning and its
 * end. It takes over the signal mask that the program believes it has. It arms
 * a timer for its first period. At its end it reports its CPU time.
 */
#ifndef SAMPLING_THREAD_ENDS_H
#define SAMPLING_THREAD_ENDS_H

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
    char name[16];        /* at its end */
};

/* Called once, in the constructor. The main thread calls ON_MAIN_EXIT when it
 * leaves by itself, in any way.
 * Context: start. */
void thread_ends_begin(void (*on_main_exit)(void));

/* Drop the ends that wait, when a roster begins: in the child of a fork they
 * are those of the parent.
 * Context: sampler. */
void thread_ends_reset(void);

/*
 * Let new threads arm a timer whose signals carry COOKIE. It first expires
 * after FIRST ns of CPU time, then every INTERVAL ns (0: only once). COOKIE 0:
 * they arm none.
 * Context: sampler.
 */
void thread_ends_use_timers(uint64_t cookie, uint64_t first, uint64_t interval);

/* Calls pthread_create(3) for a thread that does all of the above. A thread of
 * the program calls it.
 * Context: hook. */
int thread_ends_create(pthread_t *thread, const pthread_attr_t *attributes,
                       void *(*start)(void *), void *argument);

/* The same for thrd_create(3). */
int thread_ends_create_c11(thrd_t *thread, thrd_start_t start, void *argument);

/* The calling thread, which has thread-local words, is about to end by the
 * system call exit(2). No destructor runs then.
 * Context: hook. */
void thread_ends_leave(void);

/* Delete our pthread key because the program has run out of keys. From then on
 * only the sampler notices thread ends. Returns false if we have no key.
 * Context: any thread. */
bool thread_ends_release_key(void);

/* Returns how many ends were reported so far; 0 if none of them is to be read.
 * Context: sampler. */
uint64_t thread_ends_reported(void);

/* Move the next thread that has ended into *END, of the first REPORTED. Returns
 * false if there is none.
 * Context: sampler. */
bool thread_ends_next_end(uint64_t reported, struct thread_end *end);

#endif
