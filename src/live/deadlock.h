/* SPDX-License-Identifier: MIT */
/*
 * deadlock.h -- threads that wait for each other in a circle, so that none of
 * them ever goes on. No state but the memory of the results.
 */
#ifndef LIVE_DEADLOCK_H
#define LIVE_DEADLOCK_H

#include <stdint.h>

#define DEADLOCK_NONE UINT32_MAX

/* Parts of deadlocks.threads. */
struct deadlock {
    uint32_t first, count; /* each waits for the next, the last for the first */
    uint32_t first_outside, outside; /* they wait for one of the circle, perhaps
                                        through others; by number */
};

struct deadlocks {
    struct deadlock *all;
    uint32_t count;
    uint32_t *threads;
};

/*
 * Thread I of COUNT waits for thread OWNERS[I], which may be I itself, or for
 * none (DEADLOCK_NONE). Find every circle once. The circles are in the order of
 * their smallest thread numbers, and that thread stands first in its circle.
 * Returns 0, or -1 with errno set if memory is short; the caller calls
 * deadlock_release in both cases.
 */
int deadlock_find(struct deadlocks *deadlocks, const uint32_t *owners,
                  uint32_t count);

void deadlock_release(struct deadlocks *deadlocks);

#endif
