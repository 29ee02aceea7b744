/* SPDX-License-Identifier: MIT */
/*
 * events.c -- keeps the records of samples one by one. The values in a record
 * are not final: samples are weighed after their spool was read (read/weigh.c).
 * Then their events share the same values, exact to the nanosecond.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "store/layout.h"
#include "util/array.h"
#include "util/share.h"
#include "events.h"

/* How the events of one sample share a value. */
struct shared_value {
    struct share share;
    bool by_count; /* no event was recorded with any of the value */
};

/* The part of an event that is in a window: A to B of LENGTH, in ns. */
struct stretch {
    uint64_t a, b, length;
};

int
events_put(struct profile *profile, const struct profile_event *event)
{
    if (!profile->keeps_events)
        return 0;
    if (!ARRAY_GROW(profile->events, profile->event_count))
        return -1;
    profile->events[profile->event_count++] = *event;
    return 0;
}

/* Cap VALUE at INT64_MAX as sum_add does: a damaged record may have
 * more. */
static uint64_t
capped(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

static void
add_count(struct profile_event *event, uint64_t count)
{
    event->count = count < UINT32_MAX - event->count
                       ? event->count + (uint32_t)count
                       : UINT32_MAX;
}

int
events_add(struct profile *profile, const struct record_sample *record,
           const struct profile_sample *sample)
{
    struct profile_event event = {
        .time = capped(record->time),
        .duration = capped(record->duration),
        .sample = (uint32_t)(sample - profile->samples),
        .cpu = capped(record->cpu),
        .wall = capped(record->wall),
    };
    add_count(&event, record->count);
    return events_put(profile, &event);
}

/* The time lies somewhere in the thread's life; no more is known. */
int
events_add_unsampled(struct profile *profile,
                     const struct profile_sample *sample, uint64_t last)
{
    const struct profile_thread *thread = &profile->threads[sample->thread];
    uint64_t end = thread->end < last ? thread->end : last;
    struct profile_event event = {
        .time = thread->start,
        .duration = end > thread->start ? end - thread->start : 0,
        .sample = (uint32_t)(sample - profile->samples),
        .cpu = sample->values[VALUE_CPU],
        .wall = sample->values[VALUE_WALL],
    };
    return events_put(profile, &event);
}

void
events_extend(struct profile *profile, size_t event, uint64_t wall,
              uint64_t count)
{
    if (!profile->keeps_events)
        return;
    struct profile_event *at = &profile->events[event];
    sum_add(&at->duration, wall);
    sum_add(&at->wall, wall);
    add_count(at, count);
}

/* The field of EVENT whose sum is VALUE. */
static uint64_t *
event_field(struct profile_event *event, enum value value)
{
    return value == VALUE_CPU ? &event->cpu : &event->wall;
}

/* An event counts at least once. Otherwise sharing by counts could divide by a
 * total weight of 0. */
static uint64_t
points_of(const struct profile_event *event)
{
    return event->count > 0 ? event->count : 1;
}

/* Where the samples and events of one file begin in a profile. */
struct part {
    struct profile *profile;
    uint32_t first_sample;
    size_t first_event;
};

/* Collect in SHARES, by sample from the part's first one, the values that the
 * events have and those that they get. Samples whose events have no value share
 * by the events' counts. */
static void
collect_shares(const struct part *part, struct shared_value *shares,
               enum value value)
{
    const struct profile *profile = part->profile;
    for (uint32_t j = part->first_sample; j < profile->sample_count; j++)
        shares[j - part->first_sample] = (struct shared_value){
            .share.due = profile->samples[j].values[value]};
    for (size_t i = part->first_event; i < profile->event_count; i++)
        sum_add(&shares[profile->events[i].sample - part->first_sample]
                     .share.weight,
                *event_field(&profile->events[i], value));
    for (size_t i = part->first_event; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        struct shared_value *share =
            &shares[event->sample - part->first_sample];
        if (share->share.weight == 0 && share->share.due > 0)
            share->by_count = true;
        if (share->by_count)
            sum_add(&share->share.weight, points_of(event));
    }
}

/* Most samples already have their final values; they cost no division. */
static void
share_values(const struct part *part, struct shared_value *shares,
             enum value value)
{
    struct profile *profile = part->profile;
    for (size_t i = part->first_event; i < profile->event_count; i++) {
        struct profile_event *event = &profile->events[i];
        struct shared_value *share =
            &shares[event->sample - part->first_sample];
        uint64_t *to = event_field(event, value);
        if (share->by_count)
            *to = share_take(&share->share, points_of(event));
        else if (share->share.due != share->share.weight ||
                 share->share.weight == INT64_MAX)
            *to = share_take(&share->share, *to);
    }
}

int
events_weigh(struct profile *profile, uint32_t first_sample, size_t first_event)
{
    struct part part = {profile, first_sample, first_event};
    if (!profile->keeps_events)
        return 0;
    struct shared_value *shares =
        calloc(profile->sample_count - first_sample + 1, sizeof(*shares));
    if (shares == NULL)
        return -1;
    for (enum value value = VALUE_CPU; value <= VALUE_WALL; value++) {
        collect_shares(&part, shares, value);
        share_values(&part, shares, value);
    }
    free(shares);
    return 0;
}

uint64_t
events_time(const struct profile *profile, const struct profile_event *event)
{
    uint32_t thread = profile->samples[event->sample].thread;
    const struct profile_process *process =
        &profile->processes[profile->threads[thread].process];
    uint64_t time = process->start - profile->start;
    sum_add(&time, event->time);
    return time;
}

/* Find the part of an event at START that is between FROM and TO; false if
 * there is none. */
static bool
find_stretch(uint64_t start, uint64_t duration, uint64_t from, uint64_t to,
             struct stretch *stretch)
{
    uint64_t end = start;
    sum_add(&end, duration);
    if (end == start) {
        *stretch = (struct stretch){0, 1, 1};
        return start >= from && start < to;
    }
    stretch->a = from > start ? from - start : 0;
    stretch->b = (to < end ? to : end) - start;
    stretch->length = end - start;
    return from < end && to > start && from < to;
}

/* The part of VALUE that falls to STRETCH. It is a difference of rounded sums,
 * as in util/share.h, so that neighbouring parts add up. */
static uint64_t
part_of(uint64_t value, const struct stretch *stretch)
{
    __extension__ unsigned __int128 product = value;
    return (uint64_t)(product * stretch->b / stretch->length) -
           (uint64_t)(product * stretch->a / stretch->length);
}

/* An event without duration is inside or outside: its stretch is 0 to 1 of
 * 1. */
static void
cut_to_stretch(struct profile_event *event, const struct stretch *stretch)
{
    event->count = (uint32_t)part_of(event->count, stretch);
    event->cpu = part_of(event->cpu, stretch);
    event->wall = part_of(event->wall, stretch);
    if (event->duration > 0) {
        event->time += stretch->a;
        event->duration = stretch->b - stretch->a;
    }
}

bool
events_cut(struct profile_event *event, uint64_t start, uint64_t from,
           uint64_t to)
{
    struct stretch stretch;
    if (!find_stretch(start, event->duration, from, to, &stretch))
        return false;
    cut_to_stretch(event, &stretch);
    return true;
}

/* Cut all events, and keep each event that has something left. */
static void
clip_events(struct profile *profile, uint64_t from, uint64_t to)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->event_count; i++) {
        struct profile_event event = profile->events[i];
        if (events_cut(&event, events_time(profile, &event), from, to))
            profile->events[kept++] = event;
    }
    profile->event_count = kept;
}

/* Set all sums over samples to 0. */
static void
forget_sums(struct profile *profile)
{
    for (unsigned j = 0; j < VALUE_COUNT; j++) {
        profile->totals[j] = 0;
        for (uint32_t i = 0; i < profile->sample_count; i++)
            profile->samples[i].values[j] = 0;
        for (uint32_t i = 0; i < profile->thread_count; i++)
            profile->threads[i].values[j] = 0;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++)
        profile->samples[i].squares = 0;
    for (unsigned i = 0; i < STATE_COUNT; i++)
        profile->states[i] = 0;
}

static void
sum_events(struct profile *profile)
{
    for (size_t i = 0; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        struct profile_sample *sample = &profile->samples[event->sample];
        const uint64_t values[VALUE_COUNT] = {event->count, event->cpu,
                                              event->wall};
        uint64_t *thread = profile->threads[sample->thread].values;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            sum_add(&sample->values[j], values[j]);
            sum_add(&thread[j], values[j]);
            sum_add(&profile->totals[j], values[j]);
        }
        sample->squares += events_square(event->cpu, event->count);
        sum_add(&profile->states[sample->state], event->count);
    }
}

/* Remove samples without values. NUMBERS gets the new number of each sample
 * that stays. */
static void
drop_samples(struct profile *profile, uint32_t *numbers)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const uint64_t *values = profile->samples[i].values;
        numbers[i] = kept;
        if ((values[VALUE_SAMPLES] | values[VALUE_CPU] | values[VALUE_WALL]) !=
            0)
            profile->samples[kept++] = profile->samples[i];
    }
    profile->sample_count = kept;
}

/* Events without values are dropped: their samples may be gone. */
static void
renumber_events(struct profile *profile, const uint32_t *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->event_count; i++) {
        struct profile_event event = profile->events[i];
        if (event.count == 0 && event.cpu == 0 && event.wall == 0)
            continue;
        event.sample = numbers[event.sample];
        profile->events[kept++] = event;
    }
    profile->event_count = kept;
}

/* Whether EVENT fills its duration. Waits at one place with others between them
 * do not, and neither do points. */
static bool
is_solid(const struct profile_event *event)
{
    return event->duration > 0 && event->wall >= event->duration;
}

static uint64_t
end_of(const struct profile_event *event)
{
    uint64_t end = event->time;
    sum_add(&end, event->duration);
    return end;
}

/* For qsort_r, of numbers of events: by their ends, then by the numbers. */
static int
compare_ends(const void *left, const void *right, void *context)
{
    const struct profile *profile = context;
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    uint64_t a = end_of(&profile->events[i]), b = end_of(&profile->events[j]);
    return a != b ? (a > b) - (a < b) : (i > j) - (i < j);
}

/* Put the numbers of the solid events into ORDER, by their ends. LIMITS is 0
 * for each thread. Returns how many there are, or 0 if none overlap. */
static size_t
sort_solid(struct profile *profile, uint64_t *limits, size_t *order)
{
    size_t count = 0;
    bool overlap = false;
    for (size_t i = 0; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        uint64_t *limit = &limits[profile->samples[event->sample].thread];
        if (!is_solid(event))
            continue;
        overlap |= event->time < *limit;
        *limit = end_of(event);
        order[count++] = i;
    }
    if (!overlap)
        return 0;
    qsort_r(order, count, sizeof(*order), compare_ends, profile);
    return count;
}

/* Move EVENT to an earlier time, so that it ends at LIMIT at the latest. What
 * has no room after START, that of its thread, becomes shorter. */
static void
end_before(struct profile_event *event, uint64_t start, uint64_t limit)
{
    uint64_t end = end_of(event);
    if (end <= limit)
        return;
    uint64_t excess = end - limit, least = start < limit ? start : limit;
    event->time = event->time > least + excess ? event->time - excess : least;
    event->duration = limit - event->time;
}

int
events_separate(struct profile *profile)
{
    uint64_t *limits = NULL;
    size_t *order = NULL, count;
    bool has_room = ARRAY_NEW(limits, profile->thread_count + 1u) &&
                    ARRAY_NEW(order, profile->event_count + 1u);
    count = has_room ? sort_solid(profile, limits, order) : 0;
    for (uint32_t i = 0; count > 0 && i < profile->thread_count; i++)
        limits[i] = UINT64_MAX;
    for (size_t i = count; i-- > 0;) {
        struct profile_event *event = &profile->events[order[i]];
        uint32_t thread = profile->samples[event->sample].thread;
        uint64_t *limit = &limits[thread];
        end_before(event, profile->threads[thread].start, *limit);
        *limit = event->time;
    }
    free(limits);
    free(order);
    return has_room ? 0 : -1;
}

/* The order matters. First the sums of the remaining events are made, then
 * samples without values go, then events get the samples' new numbers. */
int
events_clip(struct profile *profile, uint64_t from, uint64_t to)
{
    uint32_t *numbers = calloc(profile->sample_count + 1u, sizeof(*numbers));
    if (numbers == NULL || events_separate(profile) != 0) {
        free(numbers);
        return -1;
    }
    clip_events(profile, from, to);
    forget_sums(profile);
    sum_events(profile);
    drop_samples(profile, numbers);
    renumber_events(profile, numbers);
    free(numbers);
    return 0;
}
