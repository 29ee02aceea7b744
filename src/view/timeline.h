/* SPDX-License-Identifier: MIT */
/*
 * timeline.h -- the events of a profile (events.h) thread by thread, those of
 * each thread in the order of their times.
 */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "model/events.h"

struct timeline {
    const struct profile *profile;
    uint32_t *order; /* numbers of events */
    size_t *first;   /* each thread's index in ORDER; one more at the end */
};

/* Sort the events of PROFILE. Returns 0, or -1 with errno set: ENOMEM;
 * EOVERFLOW for more events than UINT32_MAX; EINVAL if PROFILE does not keep
 * events. PROFILE must outlive TIMELINE, and must not change. */
int timeline_build(struct timeline *timeline, const struct profile *profile);

/* Event I of THREAD; NULL after its last one. */
const struct profile_event *timeline_at(const struct timeline *timeline,
                                        uint32_t thread, size_t i);

void timeline_release(struct timeline *timeline);

#endif
