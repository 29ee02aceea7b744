/* SPDX-License-Identifier: MIT */
/* stacks_filter.h -- of the stacks of all threads, those that somebody asked
 * for. Deadlocks stay those of all. */
#ifndef PROFILE_STACKS_FILTER_H
#define PROFILE_STACKS_FILTER_H

struct stacks;
struct filter_options;

/*
 * Keep the threads that FILTER asks for, as filter.h says of samples; its time
 * means nothing here. The states are what stacks_thread.doing says, "waiting"
 * for any wait, and the letters of the kernel. Groups are made anew. Returns 0,
 * or -1 with errno set if memory is short.
 */
int stacks_filter_apply(struct stacks *stacks,
                        const struct filter_options *filter);

#endif
