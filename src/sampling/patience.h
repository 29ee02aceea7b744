/* SPDX-License-Identifier: MIT */
/*
 * patience.h -- decides whether the sampler's thread hurries or is patient
 * (scheduling.h). A patient sampler does not delay the requests that a
 * server answers. It looks later, when no thread needs its CPU. If that is much
 * later, it always finds a thread at the same place, just after that thread has
 * stopped to run. So a sampler that was late hurries from then on. These are
 * pure functions.
 * Context: sampler.
 */
#ifndef SAMPLING_PATIENCE_H
#define SAMPLING_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct patience {
    uint64_t waited_at; /* the last tick that saw a thread wait */
    uint64_t needed_at; /* the last tick in which it was needed soon */
    uint32_t late;      /* how much late wake-ups outweigh the others */
    bool is_out;        /* it hurries because it was late */
};

/* Begin at NOW (CLOCK_MONOTONIC ns). */
void patience_begin(struct patience *patience, uint64_t now);

/* The sampler woke NS after its instant. */
void patience_note(struct patience *patience, uint64_t ns);

/* In the tick of NOW, a thread WAITS for a part of the time. Since the last
 * tick, the sampler was NEEDED soon: a walk has missed a rule, or a thread let
 * it hurry (scheduling.h). Returns whether the sampler is patient until the
 * next tick. */
bool patience_choose(struct patience *patience, uint64_t now, bool waits,
                     bool needed);

#endif
