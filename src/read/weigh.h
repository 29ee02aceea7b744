/* SPDX-License-Identifier: MIT */
/*
 * weigh.h -- makes the CPU time of samples add up to what the threads' own
 * clocks say. For spool.c alone.
 */
#ifndef READ_WEIGH_H
#define READ_WEIGH_H

#include <stdint.h>

struct spool_load;
struct profile_sample;
struct record_sample;

/* A record that found its thread running. Each record has one, while the
 * profile has one sample for all records that are alike. */
struct weigh_note {
    uint32_t sample; /* sample of the record */
    uint64_t age;    /* ns of CPU time that the thread had used by then */
};

/* CPU time without a sample. */
struct weigh_unsampled {
    uint32_t thread;
    uint32_t epoch;
    uint64_t cpu, age; /* ns, as recorded */
};

/* Note RECORD, which is about to be summed up in SAMPLE, if it may be of a
 * short thread. Returns 0, or -1 if memory is short. */
int weigh_note(struct spool_load *load, const struct record_sample *record,
               const struct profile_sample *sample);

/* Note RECORD, which has CPU time of THREAD and no sample. Returns 0, or -1 if
 * memory is short. */
int weigh_note_unsampled(struct spool_load *load,
                         const struct record_sample *record, uint32_t thread);

/*
 * Scale the CPU time of the samples of the spool that was just read. The wall
 * time of those that were running changes by the same amounts. CPU time
 * without a sample gets one at PROFILE_NOT_SAMPLED. Returns 0, or -1 if
 * memory is short.
 *
 * Threads whose clock was not read keep what their samples say: their process
 * was killed, or still runs.
 */
int weigh_samples(struct spool_load *load);

#endif
