/* SPDX-License-Identifier: MIT */
/*
 * thread_local.h -- the tid and the labels of a thread without a system call. A
 * seccomp filter of the program may forbid system calls.
 */
#ifndef BASE_THREAD_LOCAL_H
#define BASE_THREAD_LOCAL_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/* Keep the labels of threads (labels/labels.h) in TABLE, for tids below COUNT,
 * a multiple of 16384. Several threads may make this call at once, with the
 * same values. Context: any thread. */
void thread_local_use_labels(_Atomic uint32_t *table, uint32_t count);

/* The calling thread's tid. The first call in a thread makes a system call.
 * Context: any. */
pid_t thread_local_tid(void);

/* Ask the kernel for the tid again: in a new thread, and in the child of a
 * fork. That child keeps the labels of the thread that forked. Context: any. */
void thread_local_begin(void);

/* The place of the calling thread's labels, or NULL if there is none. Context:
 * any. */
_Atomic uint32_t *thread_local_label_place(void);

/* The place of the labels of thread TID, or NULL if there is none. Context:
 * any. */
_Atomic uint32_t *thread_local_label_place_of(pid_t tid);

/* The labels of the calling thread, and of thread TID. 0: it has none. The
 * second function needs no thread-local words. Context: handler. */
uint32_t thread_local_label(void);
uint32_t thread_local_label_of(pid_t tid);

#endif
