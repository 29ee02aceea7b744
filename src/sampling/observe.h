/* SPDX-License-Identifier: MIT */
/*
 * observe.h -- looks at the threads in each tick: which run or wait, and where.
 * Threads that ran lately are looked at in every tick. Of the others, only
 * enough are looked at to explain the CPU time that the process used. At the
 * end of a thread, a session or a file, all time up to that end is shown.
 * Context: sampler.
 */
#ifndef SAMPLING_OBSERVE_H
#define SAMPLING_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "thread_time.h"

/* What a tick saw. */
struct observe_view {
    bool ran;        /* some thread ran since the last tick */
    bool changes;    /* a thread ran for a part of the time, or is new: the next
                        tick should come soon */
    bool relabelled; /* the labels of a waiting thread have changed */
    /* The least number of waits in a row at one place, among the threads that
     * ran and waited. */
    uint32_t same;
    bool waits; /* a thread waited for a part of the time, even a small one */
    uint32_t asked;       /* questions that were sent */
    uint32_t first_looks; /* looks at threads that were not looked at before */
    uint64_t own;         /* CPU ns of the sampler */
    uint64_t process;     /* CPU ns of the process, with the sampler */
};

/* Begin: nothing is known of the threads yet. */
void observe_begin(void);

/* The program ends: look once more at some of the threads that have run lately,
 * except ENDER. */
void observe_last(pid_t ender);

/* Look at the threads at the time NOW. RANDOM is any number. The limits of the
 * number of threads are divided by THRIFT. Chance decides in which later tick
 * each of the others is looked at. */
void observe_threads(uint64_t now, uint64_t random, uint32_t thrift,
                     struct observe_view *view);

/* Thread INDEX used CPU ns from SINCE to UNTIL, before the sampler could sample
 * it (doze.h). The record does not count as a sample: a process without samples
 * writes no profile. */
void observe_early(uint32_t index, uint64_t cpu, uint64_t since,
                   uint64_t until);

/* Write the CPU time that is not written yet of a thread that must not be
 * interrupted (TRIGGER_NONE). */
void observe_flush(struct thread_time *account, uint32_t index);

/* Close the wait of thread INDEX, which is still listed, and write its end. The
 * thread lived from START to END, when its CPU clock read CLOCK. EXACT: the
 * thread itself reported that clock. */
void observe_end_thread(uint32_t index, uint64_t clock, uint64_t start,
                        uint64_t end, bool exact);

/* End a session: close all waits, and write all threads' CPU time. */
void observe_end(uint64_t now);

/* Close all waits before the journal is rotated at NOW; the threads live on.
 * After the rotation, observe_end_after_rotate begins them anew in the next
 * file. */
void observe_end_before_rotate(uint64_t now);
void observe_end_after_rotate(void);

#endif
