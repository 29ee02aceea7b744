/* SPDX-License-Identifier: MIT */
/*
 * sample.h -- what a sample says of its thread: the words that capture, store
 * and report share. The numbers are part of the file format.
 */
#ifndef BASE_SAMPLE_H
#define BASE_SAMPLE_H

/* What interrupted the thread. */
enum trigger {
    TRIGGER_NONE,  /* nothing: CPU time without a sample */
    TRIGGER_PERF,  /* itself, on its CPU clock, by perf_event_open(2) */
    TRIGGER_TIMER, /* itself, on its CPU clock, by timer_create(2) */
    TRIGGER_ASK,   /* the sampler's signal */
    TRIGGER_KEPT,  /* nothing: it waits, and was looked at from outside */
    TRIGGER_HOOK, /* nothing: a hook measured the CPU time of a call, exactly */
    TRIGGER_COUNT
};

/* What the thread was doing. */
enum state {
    STATE_RUNNING,
    STATE_WAITING,  /* did not run; in a system call, if that is known */
    STATE_RUNQUEUE, /* could run, and waited for a CPU */
    STATE_COUNT
};

#endif
