/* SPDX-License-Identifier: MIT */
/*
 * perf_event.h -- lets running threads interrupt themselves on their own CPU
 * clock, at any rate: one event of perf_event_open(2) on the main thread, which
 * all threads made from then on inherit. The thread itself gets SIGTRAP on its
 * way to user mode, so no system call is ever broken. The descriptor lies in
 * the sampler's own table: the program neither sees nor closes it. Sampler
 * thread alone.
 */
#ifndef AGENT_PERF_EVENT_H
#define AGENT_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* At the start, and in the child of a fork: nothing is open. */
void perf_event_begin(void);

/*
 * Open the event on thread TID and those it will make (or, with ALONE, on it
 * alone), with signals that carry COOKIE every PERIOD ns of its CPU time, once
 * perf_event_enable is called.
 * *SEES_KERNEL tells whether time in the kernel is sampled; without privilege
 * the kernel may forbid that (perf_event_paranoid). Returns 0, or -errno:
 * EOPNOTSUPP for a kernel that is too old, EACCES, EPERM, ENOSYS where it is
 * forbidden.
 */
int perf_event_open_on(pid_t tid, bool alone, uint64_t period, uint64_t cookie,
                       bool *sees_kernel);

/* Whether perf is forbidden, found out without opening anything, so that the
 * program's descriptors stay as they are: nobody has the id that is asked for,
 * and the kernel looks for it behind all that it forbids. Returns 0, or -errno
 * as above. Any thread. */
int perf_event_try(void);

/* Let all events that are open send their signals, in all threads that have
 * inherited them, too. */
void perf_event_enable(void);

/* Change the first event's period, and begin it anew; threads that are made
 * from now on have it too. */
void perf_event_set_period(uint64_t period);

/* No more signals. After it, events can be opened again. */
void perf_event_stop(void);

#endif
