/* SPDX-License-Identifier: MIT */
/*
 * self.h -- what a thread knows of itself without a system call, which a
 * seccomp filter of the program may forbid: its tid, and its labels.
 */
#ifndef CAPTURE_SELF_H
#define CAPTURE_SELF_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/* Labels of threads are in TABLE (agent/labels.h), for tids below COUNT, a
 * multiple of 16384. Several threads may say so at once, with the same. */
void self_use_labels(_Atomic uint32_t *table, uint32_t count);

/* The calling thread's tid; a system call the first time. Safe in signals. */
pid_t self_tid(void);

/* Ask for the tid anew: in a new thread, and in the child of a fork, which
 * keeps the labels of the thread that it was. Safe in signals. */
void self_begin(void);

/* Where the calling thread's labels are, NULL if there is no such place. Safe
 * in signals. */
_Atomic uint32_t *self_label_place(void);

/* The same of thread TID. Any thread. */
_Atomic uint32_t *self_label_place_of(pid_t tid);

/* What is there now, 0: none; and what is there of thread TID. Context: target
 * thread, in handler; the second without thread-local words, too. */
uint32_t self_label(void);
uint32_t self_label_of(pid_t tid);

#endif
