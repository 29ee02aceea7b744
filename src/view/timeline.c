/* SPDX-License-Identifier: MIT */
/*
 * timeline.c -- sorts by counting, which keeps the order within a thread. That
 * is almost always the order of the times. So only the other threads are sorted
 * by comparing.
 */
#include <errno.h>
#include <stdlib.h>

#include "util/array.h"
#include "timeline.h"

static uint32_t
thread_of(const struct profile *profile, size_t event)
{
    return profile->samples[profile->events[event].sample].thread;
}

/* FIRST becomes the index where each thread begins: the number of events of the
 * threads before it. */
static void
count_events(struct timeline *timeline)
{
    const struct profile *profile = timeline->profile;
    for (size_t i = 0; i < profile->event_count; i++)
        timeline->first[thread_of(profile, i) + 1]++;
    for (uint32_t i = 0; i < profile->thread_count; i++)
        timeline->first[i + 1] += timeline->first[i];
}

/* Each thread's index moves on while its events are entered. After that it is
 * the beginning of the next thread, so all move back by one thread. */
static void
distribute(struct timeline *timeline)
{
    const struct profile *profile = timeline->profile;
    for (size_t i = 0; i < profile->event_count; i++)
        timeline->order[timeline->first[thread_of(profile, i)]++] = (uint32_t)i;
    for (uint32_t i = profile->thread_count; i > 0; i--)
        timeline->first[i] = timeline->first[i - 1];
    timeline->first[0] = 0;
}

/* For qsort_r. Events of one time stay in the order of their records. */
static int
compare_events(const void *a, const void *b, void *context)
{
    const struct profile *profile = context;
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    uint64_t first = profile->events[one].time;
    uint64_t second = profile->events[two].time;
    if (first != second)
        return first < second ? -1 : 1;
    return (one > two) - (one < two);
}

static void
sort_thread(struct timeline *timeline, uint32_t thread)
{
    const struct profile *profile = timeline->profile;
    uint32_t *order = timeline->order + timeline->first[thread];
    size_t length = timeline->first[thread + 1] - timeline->first[thread];
    for (size_t i = 1; i < length; i++) {
        if (profile->events[order[i - 1]].time <=
            profile->events[order[i]].time)
            continue;
        qsort_r(order, length, sizeof(*order), compare_events, (void *)profile);
        return;
    }
}

int
timeline_build(struct timeline *timeline, const struct profile *profile)
{
    *timeline = (struct timeline){.profile = profile};
    if (!profile->keeps_events || profile->event_count > UINT32_MAX) {
        errno = profile->keeps_events ? EOVERFLOW : EINVAL;
        return -1;
    }
    if (!ARRAY_NEW(timeline->order, profile->event_count) ||
        !ARRAY_NEW(timeline->first, profile->thread_count + 1u)) {
        timeline_release(timeline);
        errno = ENOMEM;
        return -1;
    }
    count_events(timeline);
    distribute(timeline);
    for (uint32_t i = 0; i < profile->thread_count; i++)
        sort_thread(timeline, i);
    return 0;
}

const struct profile_event *
timeline_at(const struct timeline *timeline, uint32_t thread, size_t i)
{
    size_t at = timeline->first[thread] + i;
    if (at >= timeline->first[thread + 1])
        return NULL;
    return &timeline->profile->events[timeline->order[at]];
}

void
timeline_release(struct timeline *timeline)
{
    free(timeline->order);
    free(timeline->first);
    *timeline = (struct timeline){0};
}
