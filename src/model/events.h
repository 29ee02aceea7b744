/* SPDX-License-Identifier: MIT */
/*
 * events.h -- when the samples of a profile were taken. Each record that was
 * summed up in a sample has an event, with its part of the sample's values.
 * Events are kept only if profile->keeps_events was set before the first file
 * was added. An event has 40 bytes, so ten million of them take 400 MB.
 *
 *   sample 7   cpu 30 ms           = the sum of its events
 *   event      t=0.2 s  cpu 10 ms
 *   event      t=0.9 s  cpu 20 ms
 *
 * An event with a duration is a wait, or several sample points in a row, and
 * begins at its time. An event without a duration is a point. Events of a
 * thread are in the order of their records, which need not be the order of
 * their times.
 */
#ifndef MODEL_EVENTS_H
#define MODEL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct record_sample;

struct profile_event {
    uint64_t time, duration; /* ns, since the start of its process */
    uint32_t sample;
    uint32_t count;     /* sample points, at most UINT32_MAX */
    uint64_t cpu, wall; /* ns */
};
_Static_assert(sizeof(struct profile_event) == 40, "ten million in 400 MB");

/* The time of EVENT in ns since profile->start. */
uint64_t events_time(const struct profile *profile,
                     const struct profile_event *event);

/*
 * Move events of PROFILE so that a thread is in one place at a time. Time in
 * line is known when it is over, and is recorded later than it was. So the
 * events that fill their durations overlap by it, and the earlier one is moved
 * to where nothing was recorded. Returns 0, or -1 with errno set if memory is
 * short.
 */
int events_separate(struct profile *profile);

/*
 * Remove from PROFILE what was not between FROM and TO, in ns since
 * profile->start, TO excluded. A wait that reaches outside keeps the share of
 * its values that its time inside makes. So windows side by side add up to the
 * whole.
 *
 * Samples without any event left are removed, and the others get new numbers.
 * The sums of samples, threads, states and totals are then those of the rest.
 * Costs, triggers and the threads' clocks stay those of the whole. Nothing may
 * be added to the profile afterwards. Returns 0, or -1 with errno set if memory
 * is short; the profile is then unchanged.
 */
int events_clip(struct profile *profile, uint64_t from, uint64_t to);

/* Cut EVENT, which begins at START, to what is between FROM and TO; all
 * three are ns since the same moment. Returns false, with EVENT unchanged, if
 * no part is. */
bool events_cut(struct profile_event *event, uint64_t start, uint64_t from,
                uint64_t to);

/* The square of the CPU time of a record, in ns^2. If it stands for COUNT
 * records (SAMPLE_SUMMED), these are taken to have equal times. */
static inline double
events_square(uint64_t cpu, uint64_t count)
{
    return (double)cpu * (double)cpu / (double)(count > 1 ? count : 1);
}

/* Append a copy of EVENT, if events are kept. For readers that make their own
 * samples. Returns 0, or -1 if memory is short. */
int events_put(struct profile *profile, const struct profile_event *event);

/*
 * The rest is for read/spool.c and its helpers. These functions do nothing if
 * events are not kept. A function that returns an int returns 0, or -1 if
 * memory is short.
 */

/* Append the event of RECORD, which was summed up in SAMPLE. */
int events_add(struct profile *profile, const struct record_sample *record,
               const struct profile_sample *sample);

/* Append an event for SAMPLE, which stands for all CPU time of its thread that
 * no record covers. LAST is the latest time in the records of its process, in
 * ns since that process's start. */
int events_add_unsampled(struct profile *profile,
                         const struct profile_sample *sample, uint64_t last);

/* Extend the wait EVENT (a number) by WALL ns and COUNT sample points. */
void events_extend(struct profile *profile, size_t event, uint64_t wall,
                   uint64_t count);

/* Share the final times of the samples from FIRST_SAMPLE on among their events,
 * which begin at FIRST_EVENT. The recorded times of the events give the
 * proportion. */
int events_weigh(struct profile *profile, uint32_t first_sample,
                 size_t first_event);

#endif
