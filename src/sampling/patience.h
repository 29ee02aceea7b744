/* SPDX-License-Identifier: MIT */
/*
 * patience.h -- decides whether the sampler's thread hurries or is patient
 * (scheduling.h). A patient sampler does not delay the requests that a
 * server answers. It looks when no thread needs its CPU. If that is much later,
 * it always finds a thread at the same place, just after that thread has
 * stopped running. So a sampler that was late hurries from then on. These are
 * pure functions.
 * Context: sampler.
 */
#ifndef SAMPLING_PATIENCE_H
#define SAMPLING_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct patience {
    uint64_t waited_at; /* the last tick that saw a thread wait */
    uint64_t needed_at; /* the last tick in which the sampler was needed soon */
    uint32_t late;      /* how much late wake-ups outweigh the others */
    bool is_out;        /* the sampler hurries because it was late */
};

/* Begin at NOW (CLOCK_MONOTONIC ns). */
void patience_begin(struct patience *patience, uint64_t now);

/* The sampler woke NS after its instant. */
void patience_note(struct patience *patience, uint64_t ns);

/* WAITS: in the tick of NOW, a thread waits for a part of the time. NEEDED:
 * since the last tick, a walk has missed a rule, or a thread let the sampler
 * hurry (scheduling.h). Returns whether the sampler is patient until the next
 * tick. */
bool patience_choose(struct patience *patience, uint64_t now, bool waits,
                     bool needed);

#endif
