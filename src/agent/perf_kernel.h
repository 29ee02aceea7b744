/* SPDX-License-Identifier: MIT */
/*
 * perf_kernel.h -- on which kernels perf's events do a program no harm. By
 * their number, because what is wrong with the others shows in rare moments
 * only.
 */
#ifndef AGENT_PERF_KERNEL_H
#define AGENT_PERF_KERNEL_H

/*
 * Whether events with a SIGTRAP may be opened on the Linux that calls itself
 * RELEASE (uname(2)). Returns 0; -EOPNOTSUPP: it is too old; -EDEADLK: who
 * closes an event may have to wait until the thread that it was for has left
 * the kernel, which a waiting thread may never do. Any context.
 */
int perf_kernel_check(const char *release);

#endif
