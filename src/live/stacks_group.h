/* SPDX-License-Identifier: MIT */
/*
 * stacks_group.h -- groups of threads that do the same with the same stack.
 * Stacks are the same if they read the same: functions, files and lines.
 */
#ifndef LIVE_STACKS_GROUP_H
#define LIVE_STACKS_GROUP_H

struct stacks;

/*
 * Make the groups of all threads of STACKS that the filter keeps. The largest
 * group comes first; of equal ones, the one with the smallest tid. The threads
 * of a group are in the order of their tids. Returns 0, or -1 with errno set if
 * memory is short.
 */
int stacks_group_all(struct stacks *stacks);

#endif
