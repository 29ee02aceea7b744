/* SPDX-License-Identifier: MIT */
/*
 * observe.h -- a tick's look at the threads: which run, which wait, and where.
 * Threads that ran lately are looked at in every tick. Of the others, only
 * enough are looked at to explain the CPU time that the process used. At the
 * end of a thread, a session or a file, all time up to that end is shown.
 * Context: sampler.
 */
#ifndef SAMPLING_OBSERVE_H
#define SAMPLING_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_time.h"

/* What a tick saw. */
struct observe_view {
    bool ran;     /* some thread ran since the last tick */
    bool changes; /* a thread ran for a part of the time, or is new: the next
                     tick should come soon */
    bool waits;   /* a thread waited for a part of the time, be it small */
    uint32_t asked;
    uint32_t first_looks; /* looks at threads that were not looked at before */
    uint64_t own;         /* CPU ns of the sampler */
};

/* Begin: nothing is known of the threads yet. */
void observe_begin(void);

/* Look at the threads at the time NOW. RANDOM is any number. The tick looks at
 * THRIFT times fewer threads than it could; each of the others is seen in a
 * later tick, by chance. */
void observe_threads(uint64_t now, uint64_t random, uint32_t thrift,
                     struct observe_view *view);

/* CPU ns of the process are explained by threads that came and went unseen. */
void observe_explain(uint64_t cpu);

/* Thread INDEX used CPU ns from SINCE to UNTIL, before there was a sampler that
 * could sample it (doze.h). That is no sample: a process that has no others
 * writes no profile. */
void observe_early(uint32_t index, uint64_t cpu, uint64_t since,
                   uint64_t until);

/* Write the CPU time of a thread that must not be interrupted (TRIGGER_NONE),
 * as far as it was not written yet. */
void observe_flush(struct thread_time *account, uint32_t index);

/* Thread INDEX, which is still listed, lived from START to END; at its end its
 * CPU clock read CLOCK. EXACT: the thread itself reported that. Its wait is
 * closed, and its end is written. */
void observe_end_thread(uint32_t index, uint64_t clock, uint64_t start,
                        uint64_t end, bool exact);

/* End a session: close all waits, and write all threads' CPU time. */
void observe_end(uint64_t now);

/* The same when the journal is rotated at NOW and the threads live on.
 * observe_end_after_rotate, called afterwards, lets them begin anew in the next
 * file. */
void observe_end_before_rotate(uint64_t now);
void observe_end_after_rotate(void);

#endif
