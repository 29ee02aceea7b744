/* SPDX-License-Identifier: MIT */
/*
 * mark_ring.h -- marks on their way from the program's threads to the sampler:
 * a fixed set of places, reserved before the first mark. Nobody waits for
 * anybody; a mark that finds no place is refused and counted.
 */
#ifndef AGENT_MARK_RING_H
#define AGENT_MARK_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MARK_RING_PLACES 8192u
#define MARK_RING_NAME 96u /* bytes, with the NUL */

struct mark {
    uint64_t time, duration; /* CLOCK_MONOTONIC ns */
    pid_t tid;
    uint32_t label; /* the thread's labels (labels.h) */
    uint32_t kind;  /* enum mark_kind of store/layout.h */
    char name[MARK_RING_NAME];
};

/* Reserve the places, all empty. Called again (after fork): the same memory.
 * Returns 0, or -1 if memory is short. */
int mark_ring_begin(void);

/* Put a copy of MARK, whose name is NAME of LENGTH bytes instead of its own.
 * Returns how many wait now, 0 if there was no place for it.
 * Context: any thread. Safe in signals. Locks: none. */
uint32_t mark_ring_put(const struct mark *mark, const char *name,
                       size_t length);

/* Take the next one into *MARK; false if none is there. Context: sampler. */
bool mark_ring_take(struct mark *mark);

/* How many were refused since the last call. Context: sampler. */
uint32_t mark_ring_take_lost(void);

#endif
