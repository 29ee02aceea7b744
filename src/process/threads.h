/* SPDX-License-Identifier: MIT */
/*
 * threads.h -- which threads the process has, by /proc/self/task. A thread has
 * an index as long as it lives; tids are reused by the kernel, serials never.
 * Sampler thread alone, except for threads_touch.
 */
#ifndef PROCESS_THREADS_H
#define PROCESS_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADS_MAX 65536u
#define THREADS_TIDS (1u << 22) /* PID_MAX_LIMIT of 64-bit kernels */
#define THREADS_NONE UINT32_MAX
#define THREAD_NAME_SIZE 16 /* TASK_COMM_LEN, with the NUL */

struct thread {
    pid_t tid;       /* 0: this index is free */
    uint32_t serial; /* 1, 2, ...: of the thread, in order of appearance */
    bool seen;       /* seen by the present enumeration */
    char name[THREAD_NAME_SIZE]; /* "" until it is read */
};

/* Called for every thread that appears (GONE false) or has gone; the entry is
 * valid during the call. */
typedef void threads_listener(uint32_t index, bool gone);

/* Make the table empty, for process PID. OWN is the calling thread, which is
 * never listed. LISTENER NULL: only reserve it; threads_refresh and all reading
 * of files need another call, on the sampler. HAS_OWN_FILES: that thread has a
 * descriptor table of its own, and may keep a directory open. Returns 0, or -1
 * if memory is short. */
int threads_begin(pid_t pid, pid_t own, threads_listener *listener,
                  bool has_own_files);

/* Read /proc/self/task. Returns the number of living threads but the caller.
 * Returns -1 if it could not be read: the table stays as it is. */
int threads_refresh(void);

/* The index of thread TID, which was alive a moment ago. It is entered if it is
 * not listed yet. THREADS_NONE if it is not to be listed. */
uint32_t threads_index(pid_t tid);

/* Thread INDEX has ended: it is reported gone and its entry is free. */
void threads_remove(uint32_t index);

/* The index + 1 of each tid below THREADS_TIDS; 0: no index. Written by the
 * sampler, read by any thread. Valid after threads_begin. */
const _Atomic uint32_t *threads_indexes(void);

/* Thread TID is ours, and is not listed, either. Only one such thread; 0: none.
 * Context: any thread. */
void threads_ignore(pid_t tid);

/* A thread was or will be created. Context: any thread. */
void threads_touch(void);

/* Whether threads_touch was called since the last refresh. */
bool threads_are_stale(void);

/* Whether the number of threads has changed since the last refresh. The kernel
 * counts them as the links of /proc/self/task (proc_task_getattr in its
 * fs/proc/base.c): some 3 us for any number. A main thread that has ended is
 * counted until the process ends. Equal numbers of ended and new threads are
 * not noticed. False if the number cannot be read. */
bool threads_count_differs(void);

/* Indexes in use are below this. Other threads than the sampler may read tids,
 * which may then be old. */
uint32_t threads_limit(void);
struct thread *threads_at(uint32_t index);

/* Read the thread's name again, or set it to NAME, up to the end of its line; a
 * longer name is cut. Both return whether it has changed. */
bool threads_read_name(uint32_t index);
bool threads_set_name(uint32_t index, const char *name);

/* The number of listed threads, and the tid of one of them, 0 if none. */
uint32_t threads_count(void);
pid_t threads_first(void);

#endif
