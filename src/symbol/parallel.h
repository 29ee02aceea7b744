/* SPDX-License-Identifier: MIT */
/* parallel.h -- runs the same work on several CPUs. Report side. */
#ifndef SYMBOL_PARALLEL_H
#define SYMBOL_PARALLEL_H

#include <stddef.h>

/* The number of threads to use: the number of CPUs, at most MOST and at most 4.
 */
size_t parallel_size(size_t most);

/* Run WORK(ARGUMENT) in this thread and in up to parallel_size(MOST) - 1
 * others. If fewer threads can be made, fewer run. WORK takes only work that no
 * other thread has taken. The threads end before this call returns. All their
 * signals are blocked. */
void parallel_run(void *(*work)(void *), void *argument, size_t most);

#endif
