/* SPDX-License-Identifier: MIT */
/*
 * settle.h -- the end of a look. The filter judges each sample that changed.
 * The samples that it keeps are counted for their threads, for their functions
 * and in total. Part of watch.c.
 */
#ifndef LIVE_SETTLE_H
#define LIVE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "span.h"

struct watch;

enum settle_verdict { SETTLE_UNJUDGED, SETTLE_KEEP, SETTLE_DROP };

/* Stands beside a sample of the profile: its sums within the filter's time. */
struct watch_sample {
    struct span_sums sums;
    int64_t pending[VALUE_COUNT]; /* not settled yet */
    enum settle_verdict verdict;
    bool is_changed; /* it is in watch->changed */
};

/* Make watch->samples and watch->threads as long as the profile's. Returns 0,
 * or -1 if memory is short. */
int settle_room(struct watch *watch);

/* Add VALUES to what is pending for SAMPLE. Returns 0, or -1 if memory is
 * short. */
int settle_note(struct watch *watch, uint32_t sample,
                const int64_t values[VALUE_COUNT]);

/* Begin a new interval: set all its sums to zero. */
void settle_begin(struct watch *watch);

/* Settle what is pending. Returns 0, or -1 if memory is short. */
int settle_pending(struct watch *watch);

/* Judge and count everything anew, because names have changed. Returns 0, or -1
 * if memory is short. */
int settle_anew(struct watch *watch);

/* Judge and count everything anew if a runtime has named more of its code. A
 * runtime may write these names after the code was seen to run. Returns 0, or
 * -1 if memory is short. */
int settle_new_names(struct watch *watch);

#endif
