/* SPDX-License-Identifier: MIT */
/*
 * given.h -- how much a sample record contributes right now. Records change in
 * place. So the last contribution is remembered, and only the difference, which
 * may be negative, is added. Part of watch.c.
 */
#ifndef LIVE_GIVEN_H
#define LIVE_GIVEN_H

#include <stdint.h>

#include "model/profile.h"

struct watch;
struct record_sample;

struct given {
    int64_t cpu; /* ns, if the sample found its thread running; else 0 */
    int64_t all[VALUE_COUNT],
        kept[VALUE_COUNT]; /* KEPT: the part within the filter's time */
};

/* The contribution of RECORD, which is of THREAD. */
struct given given_of(const struct watch *watch,
                      const struct record_sample *record, uint32_t thread);

/* Add the difference between GIVEN and BEFORE to SAMPLE. BEFORE is NULL if
 * nothing of the record was counted yet. Returns 0, or -1 if memory is short.
 */
int given_count(struct watch *watch, uint32_t sample, const struct given *given,
                const struct given *before);

#endif
