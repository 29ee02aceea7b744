/* SPDX-License-Identifier: MIT */
/*
 * timeline.h -- the events of a profile (events.h) thread by thread, each
 * thread's in the order of their times.
 */
#ifndef PROFILE_TIMELINE_H
#define PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct timeline {
    const struct profile *profile;
    uint32_t *order; /* numbers of events */
    size_t *first;   /* of each thread, in ORDER; one more at the end */
};

/* Returns 0, or -1 with errno set: ENOMEM, EOVERFLOW if there are more than
 * 2^32 events, EINVAL if PROFILE does not keep events. The profile must outlive
 * the timeline, and stay as it is. */
int timeline_build(struct timeline *timeline, const struct profile *profile);

/* Event I of THREAD, NULL behind its last. */
const struct profile_event *timeline_at(const struct timeline *timeline,
                                        uint32_t thread, size_t i);

void timeline_release(struct timeline *timeline);

#endif
