/* SPDX-License-Identifier: MIT */
/*
 * given.h -- what a record of a sample stands for at this moment, and counting
 * it. Of a record that changes in place, what was counted is kept, so that the
 * difference is what is new, even if it is less than nothing. Part of watch.c.
 */
#ifndef PROFILE_GIVEN_H
#define PROFILE_GIVEN_H

#include <stdint.h>

#include "profile.h"

struct watch;
struct record_sample;

struct given {
    int64_t cpu; /* of a sample that found its thread running */
    int64_t all[VALUE_COUNT], kept[VALUE_COUNT]; /* within the filter's time */
};

/* What RECORD of THREAD stands for. */
struct given given_of(const struct watch *watch,
                      const struct record_sample *record, uint32_t thread);

/* Count the difference between GIVEN and BEFORE (NULL: all is new) for SAMPLE.
 * Returns 0, or -1 if memory is short. */
int given_count(struct watch *watch, uint32_t sample, const struct given *given,
                const struct given *before);

#endif
