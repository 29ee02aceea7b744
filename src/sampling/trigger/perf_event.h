/* SPDX-License-Identifier: MIT */
/*
 * perf_event.h -- lets running threads interrupt themselves on their own CPU
 * clock, at any rate. One event of perf_event_open(2) on the main thread is
 * inherited by all threads that are made afterwards. The thread itself gets
 * SIGTRAP on its way to user mode, so no system call is ever interrupted. The
 * descriptor lies in the sampler's own table: the program neither sees nor
 * closes it.
 * Context: sampler.
 */
#ifndef SAMPLING_TRIGGER_PERF_EVENT_H
#define SAMPLING_TRIGGER_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Forget all events, at the start and in the child of a fork. */
void perf_event_begin(void);

/*
 * Open the event on thread TID and on the threads that it will make; with
 * ALONE, on thread TID only. After perf_event_enable it sends a signal that
 * carries COOKIE every PERIOD ns of the thread's CPU time.
 *
 * *SEES_KERNEL says whether time in the kernel is sampled; the kernel may
 * forbid that to a process without privilege (perf_event_paranoid). Returns 0,
 * or -errno: EOPNOTSUPP if the kernel is too old; EACCES, EPERM or ENOSYS if
 * perf is forbidden.
 */
int perf_event_open_on(pid_t tid, bool alone, uint64_t period, uint64_t cookie,
                       bool *sees_kernel);

/* Find out whether perf is forbidden. Opens nothing, so that the program's
 * descriptors stay as they are. It asks for a thread id that no thread has; the
 * kernel looks up the id only after all its checks. Returns 0, or -errno as
 * above.
 * Context: any thread. */
int perf_event_try(void);

/* Let all open events send their signals, also in the threads that have
 * inherited them. */
void perf_event_enable(void);

/* Change the period of the first event, and begin it anew. Threads that are
 * made from now on have the new period, too. */
void perf_event_set_period(uint64_t period);

/* Close all events. Events can be opened again afterwards. */
void perf_event_stop(void);

#endif
