/* SPDX-License-Identifier: MIT */
/*
 * ages.h -- how the CPU time of many short threads is shared by their samples.
 * For weigh.c alone.
 *
 * The chance that a moment of a thread is sampled depends on its age, the CPU
 * time that the thread had used by then: perf's first sample comes after a
 * whole period, and only a timer of low rate sees what was before. But how much
 * CPU time there was at each age is known exactly. So the ages are cut into
 * bins, and what was used in a bin is shared by the samples from it:
 *
 *   age in periods   0    1/4   1/2   3/4    1   ...          7 3/4  8
 *                    +-----+-----+-----+-----+--- ... --+------+------+
 *   mass             | 9ms | 8ms | 8ms | 7ms |   ...    | 50us | 40us |
 *   notes            |  1  |  0  |  2  | 21  |   ...    |  18  |  3   |
 *                    +-----+-----+-----+-----+--- ... --+------+------+
 *   strata           |<- 32ms for 24 notes ->|   ...    |<- 21 notes->|
 *
 * One note is a poor witness for a bin, so neighbours are joined, from the
 * youngest on, until a stratum has AGES_LEAST notes. The last stratum keeps
 * what is left, notes and mass.
 */
#ifndef PROFILE_AGES_H
#define PROFILE_AGES_H

#include <stdbool.h>

#include "pool.h"

#define AGES_PERIODS 8
#define AGES_BINS (4 * AGES_PERIODS)
#define AGES_LEAST 16

struct ages {
    uint64_t width; /* of a bin, ns; the last has all that is beyond it */
    uint64_t notes; /* of all bins */
    struct ages_bin {
        uint64_t mass;    /* ns of CPU time */
        uint64_t notes;   /* samples */
        unsigned stratum; /* that it belongs to */
    } bins[AGES_BINS];
    struct pool strata[AGES_BINS]; /* each note of one has weight 1 */
};

/* Whether AGE is below so many periods. */
bool ages_cover(uint64_t period, uint64_t age);

/* No mass and no notes yet. */
void ages_begin(struct ages *ages, uint64_t period);

/* A thread used CPU ns: its part of each bin is added. */
void ages_add_thread(struct ages *ages, uint64_t cpu);

/* Threads together used CPU ns in the bin of AGE. */
void ages_add_mass(struct ages *ages, uint64_t age, uint64_t cpu);

/* A sample was taken at AGE. */
void ages_add_note(struct ages *ages, uint64_t age);

/* Make the strata. They share DUE, which may be less than the mass: then each
 * bin has less by the same factor. */
void ages_finish(struct ages *ages, uint64_t due);

/* The share of a note, in ns. To be called once for each note; if there is any,
 * all shares together are DUE. */
uint64_t ages_share(struct ages *ages, uint64_t age);

#endif
