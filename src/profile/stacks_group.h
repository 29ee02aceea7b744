/* SPDX-License-Identifier: MIT */
/*
 * stacks_group.h -- threads that do the same with the same stack, put together.
 * Stacks are the same if they read the same: functions, files and lines.
 */
#ifndef PROFILE_STACKS_GROUP_H
#define PROFILE_STACKS_GROUP_H

struct stacks;

/*
 * Make the groups of all threads of STACKS that its filter keeps: the largest
 * first; of equal ones, that of the smallest tid. Within a group the threads
 * are in the order of their tids. Returns 0, or -1 with errno set if memory is
 * short.
 */
int stacks_group_all(struct stacks *stacks);

#endif
