/* SPDX-License-Identifier: MIT */
/*
 * shown.h -- what a table of wall time shows of a watch: the threads that are
 * idle in a span (model/idle.h), and all functions without the time in which
 * these did not run. The watch does not change.
 */
#ifndef LIVE_SHOWN_H
#define LIVE_SHOWN_H

#include "watch.h"

struct shown {
    struct function *functions; /* by number, as in watch->functions */
    bool *are_idle;             /* by thread */
    uint32_t idle_count;
    struct span_sums idle; /* of all idle threads, not running */
};

/* Make SHOWN of WATCH. Its functions are valid until the next look. Returns 0,
 * or -1 with errno set if memory is short. The caller calls shown_end in both
 * cases. */
int shown_begin(struct shown *shown, const struct watch *watch, enum span span);

void shown_end(struct shown *shown);

#endif
