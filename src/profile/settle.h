/* SPDX-License-Identifier: MIT */
/*
 * settle.h -- the end of a look: what changed is judged by the filter, sample
 * by sample, and what is kept is counted for its thread, its functions and all.
 * Part of watch.c.
 */
#ifndef PROFILE_SETTLE_H
#define PROFILE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "span.h"

struct watch;

enum settle_verdict { SETTLE_UNJUDGED, SETTLE_KEEP, SETTLE_DROP };

/* Beside a sample of the profile: its sums within the filter's time. */
struct watch_sample {
    struct span_sums sums;
    int64_t pending[VALUE_COUNT]; /* not settled yet */
    enum settle_verdict verdict;
    bool is_changed; /* it is in the list */
};

/* Make watch->samples and watch->threads reach as far as the profile's. Returns
 * 0, or -1 if memory is short. */
int settle_room(struct watch *watch);

/* Add VALUES to what is pending of SAMPLE. Returns 0, or -1 if memory is short.
 */
int settle_note(struct watch *watch, uint32_t sample,
                const int64_t values[VALUE_COUNT]);

/* A new interval begins with nothing. */
void settle_begin(struct watch *watch);

/* Settle what is pending. Returns 0, or -1 if memory is short. */
int settle_pending(struct watch *watch);

/* Names have changed: judge and count everything anew. The same. */
int settle_anew(struct watch *watch);

/* A runtime may write the names of its code after it was seen to run: if it
 * did, judge and count everything anew. The same. */
int settle_new_names(struct watch *watch);

#endif
