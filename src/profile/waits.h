/* SPDX-License-Identifier: MIT */
/*
 * waits.h -- waits that were not over when their record was last written: they
 * reach to the last tick, or to the end of their thread if that came first.
 * Both may stand behind the record in the spool, so such waits are noted and
 * extended when the spool is read. For build.c alone.
 */
#ifndef PROFILE_WAITS_H
#define PROFILE_WAITS_H

#include <stddef.h>
#include <stdint.h>

struct build;
struct profile_sample;
struct record_sample;

struct open_wait {
    uint32_t sample;  /* that its record was summed up in */
    uint64_t reached; /* ns, where its record ends */
    size_t event;     /* of the record, if events are kept */
};

/* Note RECORD, which was summed up in SAMPLE and is the last event, if it is
 * open. Returns 0, or -1 if memory is short. */
int waits_note(struct build *build, const struct record_sample *record,
               const struct profile_sample *sample);

/* Let every wait that was noted reach as far as it does: its sample gets the
 * wall time, and a sample point for each period that is full. */
void waits_extend(struct build *build);

#endif
