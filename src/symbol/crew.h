/* SPDX-License-Identifier: MIT */
/* crew.h -- the same work on several CPUs. Report side. */
#ifndef SYMBOL_CREW_H
#define SYMBOL_CREW_H

#include <stddef.h>

/* For how many threads at once there are CPUs, 1 to MOST and to 4. */
size_t crew_size(size_t most);

/* WORK(ARGUMENT) in this thread and in up to crew_size(MOST) - 1 others, as
 * many as can be had; each is to take what no other has taken. They live as
 * long as this call, and take no signals. */
void crew_run(void *(*work)(void *), void *argument, size_t most);

#endif
