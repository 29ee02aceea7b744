/* SPDX-License-Identifier: MIT */
/*
 * short_threads.h -- how the CPU time of many short threads is shared by their
 * samples. For weigh.c alone.
 *
 * The chance that a moment of a thread is sampled depends on the thread's age:
 * the CPU time that it had used by then. perf's first sample comes after a
 * whole period, and only a timer of low rate sees the time before. But the CPU
 * time used at each age is known exactly. So ages are cut into bins, and the
 * samples from a bin share its time:
 *
 *   age in periods   0   1/64  2/64       63/64  1  65/64   ...  7 63/64  8
 *                    +-----+-----+-- ... --+-----+-----+--- ... --+-------+
 *   mass             | 9ms | 9ms |         | 7ms | 7ms |    ...   | 40 us |
 *   notes            |  1  |  0  |         |  1  | 80  |    ...   |   3   |
 *                    +-----+-----+-- ... --+-----+-----+--- ... --+-------+
 *   strata           |<- 96ms for 16 ->|<- 9 ->|<-80 ->|    ...   |<- 21 ->
 *
 * A bin with one note (a sample) would be shared too roughly. So neighbours are
 * joined, from the youngest on, until a stratum has SHORT_THREADS_LEAST notes.
 * The last stratum keeps the rest, notes and mass. The samples of many threads
 * can have nearly one age, that of perf's period. A bin that alone has
 * SHORT_THREADS_LEAST notes is a stratum: its notes are no measure of the ages
 * before it. The bins joined before it need only SHORT_THREADS_FEW notes.
 */
#ifndef READ_SHORT_THREADS_H
#define READ_SHORT_THREADS_H

#include <stdbool.h>

#include "util/share.h"

#define SHORT_THREADS_PERIODS 8
#define SHORT_THREADS_BINS (64 * SHORT_THREADS_PERIODS)
#define SHORT_THREADS_LEAST 16
#define SHORT_THREADS_FEW 4

/* Bins of a quarter of a period: so wide are the ages by which the spool counts
 * the CPU time of threads without a sample. */
#define SHORT_THREADS_QUARTER 16

struct short_threads {
    uint64_t width; /* of a bin, ns; the last bin has no upper limit */
    uint64_t notes; /* samples in all bins */
    struct short_threads_bin {
        uint64_t mass;    /* ns of CPU time */
        uint64_t notes;   /* samples */
        unsigned stratum; /* stratum of the bin */
    } bins[SHORT_THREADS_BINS];
    struct share strata[SHORT_THREADS_BINS]; /* each note in it has weight 1 */
};

/* Whether AGE is below SHORT_THREADS_PERIODS periods. Both are ns. */
bool short_threads_cover(uint64_t period, uint64_t age);

/* Begin without mass and notes. PERIOD is in ns. */
void short_threads_begin(struct short_threads *threads, uint64_t period);

/* Add a thread that used CPU ns: each bin gets its part. */
void short_threads_add_thread(struct short_threads *threads, uint64_t cpu);

/* Add CPU ns that threads together used from AGE on, in a quarter of a period.
 */
void short_threads_add_mass(struct short_threads *threads, uint64_t age,
                            uint64_t cpu);

/* Add a sample that was taken at AGE. */
void short_threads_add_note(struct short_threads *threads, uint64_t age);

/* Make the strata. They share DUE ns, which may be less than the mass: then
 * each bin has less by the same factor. */
void short_threads_finish(struct short_threads *threads, uint64_t due);

/* Take the share of a note at AGE, in ns. To be called once for each note. If
 * there are notes, all shares together are DUE. */
uint64_t short_threads_share(struct short_threads *threads, uint64_t age);

#endif
