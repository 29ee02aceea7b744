/* SPDX-License-Identifier: MIT */
/*
 * weigh.h -- makes the CPU time of samples add up to that of the threads' own
 * clocks. For spool.c alone.
 */
#ifndef READ_WEIGH_H
#define READ_WEIGH_H

#include <stdint.h>

struct spool_load;
struct profile_sample;
struct record_sample;

/* A note of a record that found its thread running. The profile has one sample
 * for all records that are alike, so a sample may have many notes. */
struct weigh_note {
    uint32_t sample; /* index of the record's sample */
    uint64_t age;    /* ns of CPU time that the thread had used by then */
};

/* CPU time without a sample. */
struct weigh_unsampled {
    uint32_t thread;
    uint32_t epoch;
    uint64_t cpu, age; /* ns, as recorded */
};

/* Note RECORD if its thread may be short. The caller then sums it up in SAMPLE.
 * Returns 0, or -1 if memory is short. */
int weigh_note(struct spool_load *load, const struct record_sample *record,
               const struct profile_sample *sample);

/* Note RECORD, which has CPU time of THREAD and no sample. Returns 0, or -1 if
 * memory is short. */
int weigh_note_unsampled(struct spool_load *load,
                         const struct record_sample *record, uint32_t thread);

/*
 * Scale the CPU time of the running samples of the spool that was just read.
 * Their wall time changes by the same amounts. CPU time that no sample shares
 * gets a sample at PROFILE_NOT_SAMPLED. Returns 0, or -1 if memory is short.
 *
 * If a process was killed, or still runs, the final clocks of its threads are
 * not known. The clocks at the sampler's last looks replace them. Threads
 * without any clock keep the time of their samples.
 */
int weigh_samples(struct spool_load *load);

#endif
