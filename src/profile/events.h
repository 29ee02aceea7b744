/* SPDX-License-Identifier: MIT */
/*
 * events.h -- when the samples of a profile were: one event for each record
 * that was summed up in a sample, with its part of the sample's values. Kept
 * only if profile->keeps_events was set before the first spool was added; an
 * event is 40 bytes, so ten million of them are 400 MB.
 *
 *   sample 7   cpu 30 ms           = the sum of its events
 *   event      t=0.2 s  cpu 10 ms
 *   event      t=0.9 s  cpu 20 ms
 *
 * An event with a duration is a wait, or a row of sample points, from its time
 * on; one without is a point. Events of a thread are in the order of their
 * records, which need not be that of their times.
 */
#ifndef PROFILE_EVENTS_H
#define PROFILE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct build;
struct record_sample;

struct profile_event {
    uint64_t time, duration; /* ns, since the start of its process */
    uint32_t sample;
    uint32_t count;     /* sample points; UINT32_MAX if there are more */
    uint64_t cpu, wall; /* ns */
};
_Static_assert(sizeof(struct profile_event) == 40, "ten million in 400 MB");

/* The time of EVENT in ns since profile->start. */
uint64_t events_time(const struct profile *profile,
                     const struct profile_event *event);

/*
 * Leave in PROFILE only what was between FROM and TO, ns since profile->start,
 * TO excluded. A wait that reaches beyond keeps the part of its values that its
 * part of the time is, so that windows side by side add up to the whole.
 * Samples of which nothing is left are removed, and the sums of samples,
 * threads, states and all are what is left; what the profile cost, who
 * triggered and what clocks said stays that of the whole. Nothing can be added
 * to the profile afterwards. Returns 0, or -1 with errno set if memory is
 * short, and the profile is as it was.
 */
int events_clip(struct profile *profile, uint64_t from, uint64_t to);

/* Leave of EVENT, which begins at START, what is between FROM and TO, all in ns
 * since the same moment. False if that is nothing, and it is as it was. */
bool events_cut(struct profile_event *event, uint64_t start, uint64_t from,
                uint64_t to);

/* One more event, for those who make samples of their own. Returns 0, or -1 if
 * memory is short. */
int events_put(struct profile *profile, const struct profile_event *event);

/*
 * For build.c and its helpers; all do nothing if events are not kept. Those
 * that return an int return -1 if memory is short.
 */

/* RECORD was summed up in SAMPLE. */
int events_add(struct profile *profile, const struct record_sample *record,
               const struct profile_sample *sample);

/* SAMPLE stands for all CPU time of its thread of which there is no record. */
int events_add_unsampled(struct build *build,
                         const struct profile_sample *sample);

/* The wait that EVENT is goes on for WALL, with COUNT sample points. */
void events_extend(struct profile *profile, size_t event, uint64_t wall,
                   uint64_t count);

/* The samples of the spool have their final times: share them out to their
 * events, in proportion to what these were recorded with. */
int events_weigh(struct build *build);

#endif
