/* SPDX-License-Identifier: MIT */
/* crew.h -- runs the same work on several CPUs. Report side. */
#ifndef SYMBOL_CREW_H
#define SYMBOL_CREW_H

#include <stddef.h>

/* The number of threads to use: the number of CPUs, at most MOST and at most 4.
 */
size_t crew_size(size_t most);

/* Run WORK(ARGUMENT) in this thread and in up to crew_size(MOST) - 1 others. If
 * fewer threads can be made, fewer run. WORK takes only work that no other
 * thread has taken. The threads end before this call returns. All their signals
 * are blocked. */
void crew_run(void *(*work)(void *), void *argument, size_t most);

#endif
