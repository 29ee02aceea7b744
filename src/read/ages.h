/* SPDX-License-Identifier: MIT */
/*
 * ages.h -- how the CPU time of many short threads is shared by their samples.
 * For weigh.c alone.
 *
 * The chance that a moment of a thread is sampled depends on the thread's age:
 * the CPU time that it had used by then. perf's first sample comes after a
 * whole period, and only a timer of low rate sees the time before. But how much
 * CPU time was used at each age is known exactly. So ages are cut into bins,
 * and the time used in a bin is shared by the samples from it:
 *
 *   age in periods   0    1/4   1/2   3/4    1   ...          7 3/4  8
 *                    +-----+-----+-----+-----+--- ... --+------+------+
 *   mass             | 9ms | 8ms | 8ms | 7ms |   ...    | 50us | 40us |
 *   notes            |  1  |  0  |  2  | 21  |   ...    |  18  |  3   |
 *                    +-----+-----+-----+-----+--- ... --+------+------+
 *   strata           |<- 32ms for 24 notes ->|   ...    |<- 21 notes->|
 *
 * A bin with one note (a sample) would be shared too roughly. So neighbours are
 * joined, from the youngest on, until a stratum has AGES_LEAST notes. The last
 * stratum keeps the rest, notes and mass.
 */
#ifndef READ_AGES_H
#define READ_AGES_H

#include <stdbool.h>

#include "util/share.h"

#define AGES_PERIODS 8
#define AGES_BINS (4 * AGES_PERIODS)
#define AGES_LEAST 16

struct ages {
    uint64_t width; /* of a bin, ns; the last bin has no upper limit */
    uint64_t notes; /* samples in all bins */
    struct ages_bin {
        uint64_t mass;    /* ns of CPU time */
        uint64_t notes;   /* samples */
        unsigned stratum; /* stratum of the bin */
    } bins[AGES_BINS];
    struct share strata[AGES_BINS]; /* each note in it has weight 1 */
};

/* Whether AGE is below AGES_PERIODS periods. Both are ns. */
bool ages_cover(uint64_t period, uint64_t age);

/* Begin without mass and notes. PERIOD is in ns. */
void ages_begin(struct ages *ages, uint64_t period);

/* Add a thread that used CPU ns: each bin gets its part. */
void ages_add_thread(struct ages *ages, uint64_t cpu);

/* Add CPU ns that threads together used in the bin of AGE. */
void ages_add_mass(struct ages *ages, uint64_t age, uint64_t cpu);

/* Add a sample that was taken at AGE. */
void ages_add_note(struct ages *ages, uint64_t age);

/* Make the strata. They share DUE ns, which may be less than the mass: then
 * each bin has less by the same factor. */
void ages_finish(struct ages *ages, uint64_t due);

/* Take the share of a note at AGE, in ns. To be called once for each note. If
 * there are notes, all shares together are DUE. */
uint64_t ages_share(struct ages *ages, uint64_t age);

#endif
