/* SPDX-License-Identifier: MIT */
/*
 * perf_kernel.h -- on which kernels perf's events do a program no harm. The
 * kernel's version decides, because the faults of the other kernels show only
 * in rare moments.
 */
#ifndef SAMPLING_TRIGGER_PERF_KERNEL_H
#define SAMPLING_TRIGGER_PERF_KERNEL_H

#include <stdbool.h>

/*
 * Whether events with SIGTRAP may be opened on the Linux of version RELEASE
 * (uname(2)). Returns 0, -EOPNOTSUPP if it is too old, or -EDEADLK if closing
 * an event may hang: closing may wait until the event's thread has left the
 * kernel, which a waiting thread may never do.
 * Context: any.
 */
int perf_kernel_check(const char *release);

/* Whether such events may sample the kernel of version RELEASE, too. Context:
 * any. */
bool perf_kernel_may_be_seen(const char *release);

#endif
