/* SPDX-License-Identifier: MIT */
/*
 * events.c -- the records of samples, one by one. What a record says is not the
 * last word: samples are weighed when their spool was read (weigh.c), and their
 * events then share the same values to the nanosecond.
 */
#include "events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "store/record.h"

#include "array.h"
#include "parts.h"
#include "pool.h"

/* How the events of one sample share a value. */
struct share {
    struct pool pool;
    bool by_count; /* no event was recorded with any */
};

/* The part of an event that is in a window: the stretch A to B of LENGTH. */
struct stretch {
    uint64_t a, b, length;
};

/* One more event; NULL if memory is short. */
static struct profile_event *
new_event(struct profile *profile)
{
    struct profile_event *events =
        array_room(profile->events, profile->event_count, sizeof *events);

    if (events == NULL)
        return NULL;
    profile->events = events;
    return &events[profile->event_count++];
}

int
events_put(struct profile *profile, const struct profile_event *event)
{
    struct profile_event *place;

    if (!profile->keeps_events)
        return 0;
    place = new_event(profile);
    if (place == NULL)
        return -1;
    *place = *event;
    return 0;
}

/* As profile_sum: no value is over INT64_MAX, whatever a damaged record
 * says. */
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
    struct profile_event *event;

    if (!profile->keeps_events)
        return 0;
    event = new_event(profile);
    if (event == NULL)
        return -1;
    *event = (struct profile_event){
        .time = capped(record->time),
        .duration = capped(record->duration),
        .sample = (uint32_t)(sample - profile->samples),
        .cpu = capped(record->cpu),
        .wall = capped(record->wall),
    };
    add_count(event, record->count);
    return 0;
}

/* Somewhere in the life of the thread is all that is known. */
int
events_add_unsampled(struct build *build, const struct profile_sample *sample)
{
    struct profile *profile = build->profile;
    const struct profile_thread *thread = &profile->threads[sample->thread];
    uint64_t end = thread->end < build->end ? thread->end : build->end;
    struct profile_event *event;

    if (!profile->keeps_events)
        return 0;
    event = new_event(profile);
    if (event == NULL)
        return -1;
    *event = (struct profile_event){
        .time = thread->start,
        .duration = end > thread->start ? end - thread->start : 0,
        .sample = (uint32_t)(sample - profile->samples),
        .cpu = sample->values[VALUE_CPU],
        .wall = sample->values[VALUE_WALL],
    };
    return 0;
}

void
events_extend(struct profile *profile, size_t event, uint64_t wall,
              uint64_t count)
{
    struct profile_event *at;

    if (!profile->keeps_events)
        return;
    at = &profile->events[event];
    profile_sum(&at->duration, wall);
    profile_sum(&at->wall, wall);
    add_count(at, count);
}

/* The field of EVENT that is summed up in VALUE. */
static uint64_t *
field(struct profile_event *event, enum value value)
{
    return value == VALUE_CPU ? &event->cpu : &event->wall;
}

/* An event counts at least once, or sharing by counts could have a weight of
 * nothing to share by. */
static uint64_t
points(const struct profile_event *event)
{
    return event->count > 0 ? event->count : 1;
}

/* Collect in SHARES, by sample from the spool's first, what the events have and
 * what they are to have. Those that have nothing share by their counts. */
static void
collect(const struct build *build, struct share *shares, enum value value)
{
    const struct profile *profile = build->profile;
    size_t i;

    for (uint32_t j = build->first_sample; j < profile->sample_count; j++)
        shares[j - build->first_sample] =
            (struct share){.pool.due = profile->samples[j].values[value]};
    for (i = build->first_event; i < profile->event_count; i++)
        profile_sum(&shares[profile->events[i].sample - build->first_sample]
                         .pool.weight,
                    *field(&profile->events[i], value));
    for (i = build->first_event; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        struct share *share = &shares[event->sample - build->first_sample];
        if (share->pool.weight == 0 && share->pool.due > 0)
            share->by_count = true;
        if (share->by_count)
            profile_sum(&share->pool.weight, points(event));
    }
}

/* Most samples are right as they were recorded; they cost no division. */
static void
share_out(struct build *build, struct share *shares, enum value value)
{
    struct profile *profile = build->profile;

    for (size_t i = build->first_event; i < profile->event_count; i++) {
        struct profile_event *event = &profile->events[i];
        struct share *share = &shares[event->sample - build->first_sample];
        uint64_t *to = field(event, value);
        if (share->by_count)
            *to = pool_take(&share->pool, points(event));
        else if (share->pool.due != share->pool.weight ||
                 share->pool.weight == INT64_MAX)
            *to = pool_take(&share->pool, *to);
    }
}

int
events_weigh(struct build *build)
{
    const struct profile *profile = build->profile;
    struct share *shares;

    if (!profile->keeps_events)
        return 0;
    shares =
        calloc(profile->sample_count - build->first_sample + 1, sizeof *shares);
    if (shares == NULL)
        return -1;
    for (enum value value = VALUE_CPU; value <= VALUE_WALL; value++) {
        collect(build, shares, value);
        share_out(build, shares, value);
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

    profile_sum(&time, event->time);
    return time;
}

/* What of an event that begins at START is between FROM and TO; false if
 * nothing is. */
static bool
find_stretch(uint64_t start, uint64_t duration, uint64_t from, uint64_t to,
             struct stretch *stretch)
{
    uint64_t end = start;

    profile_sum(&end, duration);
    if (end == start) {
        *stretch = (struct stretch){0, 1, 1};
        return start >= from && start < to;
    }
    stretch->a = from > start ? from - start : 0;
    stretch->b = (to < end ? to : end) - start;
    stretch->length = end - start;
    return from < end && to > start && from < to;
}

/* A difference of sums, as in pool.c. */
static uint64_t
part(uint64_t value, const struct stretch *stretch)
{
    __extension__ unsigned __int128 product = value;

    return (uint64_t)(product * stretch->b / stretch->length) -
           (uint64_t)(product * stretch->a / stretch->length);
}

/* What has no duration is in the window or not: its stretch is 0 to 1 of 1. */
static void
cut_to_stretch(struct profile_event *event, const struct stretch *stretch)
{
    event->count = (uint32_t)part(event->count, stretch);
    event->cpu = part(event->cpu, stretch);
    event->wall = part(event->wall, stretch);
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

/* Cut the events, and keep those of which something is left. */
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

/* All sums over samples begin again at nothing. */
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
            profile_sum(&sample->values[j], values[j]);
            profile_sum(&thread[j], values[j]);
            profile_sum(&profile->totals[j], values[j]);
        }
        profile_sum(&profile->states[sample->state], event->count);
    }
}

/* NUMBERS gets the new number of each sample that stays. */
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

/* An event of nothing may refer to a sample that is gone. */
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

/* The order matters: sums of what is left of the events, then samples go that
 * have none, and then events follow the samples' new numbers. */
int
events_clip(struct profile *profile, uint64_t from, uint64_t to)
{
    uint32_t *numbers = calloc(profile->sample_count + 1u, sizeof *numbers);

    if (numbers == NULL)
        return -1;
    clip_events(profile, from, to);
    forget_sums(profile);
    sum_events(profile);
    drop_samples(profile, numbers);
    renumber_events(profile, numbers);
    free(numbers);
    return 0;
}
