/* SPDX-License-Identifier: MIT */
/*
 * sample.h -- what a sample says of its thread: the words that capture, store
 * and report share. The numbers are part of the file format.
 */
#ifndef BASE_SAMPLE_H
#define BASE_SAMPLE_H

/* Who interrupted the thread. */
enum trigger {
    TRIGGER_NONE,
    TRIGGER_PERF,
    TRIGGER_TIMER,
    TRIGGER_ASK,
    TRIGGER_KEPT, /* nobody: it had not moved, this is its last stack */
    TRIGGER_COUNT
};

/* What the thread was doing. */
enum state {
    STATE_RUNNING,
    STATE_WAITING, /* did not run; in a system call, if that is known */
    STATE_RUNQUEUE,
    STATE_COUNT
};

#endif
