/* SPDX-License-Identifier: MIT */
/*
 * waits.h -- waits that were not over when their record was last written. They
 * reach to the last tick, or to the end of their thread if that came first.
 * Both may stand behind the record in the spool. So such waits are noted, and
 * extended when the spool was read. For spool.c alone.
 */
#ifndef READ_WAITS_H
#define READ_WAITS_H

#include <stddef.h>
#include <stdint.h>

struct spool_load;
struct profile_sample;
struct record_sample;

struct open_wait {
    uint32_t sample;  /* sample of its record */
    uint64_t reached; /* ns, the end of its record */
    size_t event;     /* event of the record, if events are kept */
};

/* Note RECORD if it is an open wait. It was summed up in SAMPLE and is the last
 * event. Returns 0, or -1 if memory is short. */
int waits_note(struct spool_load *load, const struct record_sample *record,
               const struct profile_sample *sample);

/* Extend every wait that was noted. Its sample gets the wall time, and a sample
 * point for each full period. */
void waits_extend(struct spool_load *load);

#endif
