/* SPDX-License-Identifier: MIT */
/*
 * threads.h -- which threads the process has, by /proc/self/task. A thread has
 * an index as long as it lives; tids are reused by the kernel, serials never.
 * Sampler thread alone, but for threads_touch.
 */
#ifndef TARGET_THREADS_H
#define TARGET_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADS_MAX 65536u
#define THREAD_NAME_SIZE 16 /* TASK_COMM_LEN, with the NUL */

struct thread {
    pid_t tid;       /* 0: this index is free */
    uint32_t serial; /* 1, 2, ...: of the thread, in order of appearance */
    bool seen;       /* by the enumeration that is under way */
    char name[THREAD_NAME_SIZE];
};

/* Called for every thread that appears (GONE false) or has gone; the entry is
 * valid during the call. */
typedef void threads_listener(uint32_t index, bool gone);

/* Make the table empty, for process PID. OWN is the calling thread, which is
 * never listed. Returns 0, or -1 if memory is short. */
int threads_begin(pid_t pid, pid_t own, threads_listener *listener);

/* Read /proc/self/task. Returns the number of living threads but the caller, or
 * -1 if it could not be read (the table stays as it is). */
int threads_refresh(void);

/* Thread TID is ours, and is not listed either. At most one; 0 for none. Any
 * thread. */
void threads_ignore(pid_t tid);

/* A thread was or will be created. Any thread. */
void threads_touch(void);

/* Whether threads_touch was called since the last refresh. */
bool threads_are_stale(void);

/* Indexes in use are below this. */
uint32_t threads_limit(void);
struct thread *threads_at(uint32_t index);

/* Read the thread's name anew. Returns whether it has changed. */
bool threads_read_name(uint32_t index);

/* The stack pointer of thread TID while it waits in a system call; 0 if it does
 * not, or the kernel does not tell. */
uint64_t threads_wait_sp(pid_t tid);

#endif
