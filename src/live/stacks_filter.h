/* SPDX-License-Identifier: MIT */
/* stacks_filter.h -- keeps some of the stacks of all threads. Deadlocks stay
 * those of all threads. */
#ifndef LIVE_STACKS_FILTER_H
#define LIVE_STACKS_FILTER_H

struct stacks;
struct filter_options;

/*
 * Keep the threads that FILTER asks for, by the rules that filter.h has for
 * samples. The filter's time is not used. A state is what stacks_thread.doing
 * says, "waiting" for any wait, or the letter of the kernel. The groups are
 * made anew. Returns 0, or -1 with errno set if memory is short.
 */
int stacks_filter_apply(struct stacks *stacks,
                        const struct filter_options *filter);

#endif
