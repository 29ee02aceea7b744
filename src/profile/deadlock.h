/* SPDX-License-Identifier: MIT */
/*
 * deadlock.h -- threads that wait for each other in a circle, so that none of
 * them ever goes on. Pure but for its memory.
 */
#ifndef PROFILE_DEADLOCK_H
#define PROFILE_DEADLOCK_H

#include <stdint.h>

#define DEADLOCK_NONE UINT32_MAX

/* Parts of deadlocks.threads. */
struct deadlock {
    uint32_t first, count;           /* each waits for the one behind it, the
                                      * last for the first */
    uint32_t first_outside, outside; /* who waits for one of them, perhaps
                                      * by way of others; in order of number */
};

struct deadlocks {
    struct deadlock *all;
    uint32_t count;
    uint32_t *threads;
};

/*
 * Thread I of COUNT waits for thread OWNERS[I], which may be itself, or for
 * none (DEADLOCK_NONE). Find every circle once, in the order of its smallest
 * number, which stands first in it. Returns 0, or -1 with errno set if memory
 * is short; deadlock_release is due in both cases.
 */
int deadlock_find(struct deadlocks *deadlocks, const uint32_t *owners,
                  uint32_t count);

void deadlock_release(struct deadlocks *deadlocks);

#endif
