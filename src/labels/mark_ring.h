/* SPDX-License-Identifier: MIT */
/*
 * mark_ring.h -- takes marks from the program's threads to the sampler. It has
 * a fixed number of places, which are reserved before the first mark. No thread
 * waits for another one. A mark that finds no free place is refused and
 * counted.
 */
#ifndef LABELS_MARK_RING_H
#define LABELS_MARK_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Number of places, and size of a name. */
#define MARK_RING_PLACES 8192u
#define MARK_RING_NAME 96u /* bytes, with the NUL */

struct mark {
    uint64_t time, duration; /* CLOCK_MONOTONIC ns */
    pid_t tid;
    uint32_t label; /* the thread's labels (labels.h) */
    uint32_t kind;  /* enum mark_kind of store/layout.h */
    char name[MARK_RING_NAME];
};

/* Reserve the places, all empty; or empty them when another profile begins.
 * Returns 0, or -1 if memory is short.
 * Context: start. */
int mark_ring_begin(void);

/* Add a copy of MARK with the name NAME, of LENGTH bytes; the name inside MARK
 * is not read. Returns how many marks wait now, or 0 if no place was free. The
 * function takes no lock.
 * Context: any. */
uint32_t mark_ring_put(const struct mark *mark, const char *name,
                       size_t length);

/* Move the next mark into *MARK. Returns false if no mark waits.
 * Context: sampler. */
bool mark_ring_take(struct mark *mark);

/* Returns how many marks were refused since the last call. Context: sampler. */
uint32_t mark_ring_take_lost(void);

#endif
