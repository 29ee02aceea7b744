/* SPDX-License-Identifier: MIT */
/*
 * interval_parts.h -- what the files of interval.h share: the state
 * between two takes. A position is the part of it that another process needs.
 */
#ifndef LIVE_INTERVAL_PARTS_H
#define LIVE_INTERVAL_PARTS_H

#include <stddef.h>
#include <sys/types.h>

#include "read/spool_load.h"
#include "util/share.h"
#include "interval.h"

struct reader;

/* INTERVAL_COUNTERS: counters of a profile's cost, which all have one type.
 * INTERVAL_NOTES: stacks of short threads that are remembered for those without
 * one. */
enum {
    INTERVAL_COUNTERS = offsetof(struct profile_cost, rate) / sizeof(uint64_t),
    INTERVAL_NOTES = 64
};

/* What one record, or one step, adds. */
struct interval_values {
    int64_t of[VALUE_COUNT];
};

/* A sample record that may change in place. */
struct interval_kept {
    uint64_t place;
    struct interval_values given; /* what was taken of it */
};

/* A sample that has no share yet, as recorded. */
struct interval_fresh {
    uint32_t sample;
    uint64_t count, cpu, wall;
};

/* By number of the profile's threads. */
struct interval_thread {
    uint64_t clock; /* ns of CPU time, the highest that was seen */
    int64_t given;  /* ns of CPU time that was taken */
    uint64_t place; /* of its latest sample in the spool */
    uint32_t node;  /* where it last ran; 0: it never did */
    struct share share;
    bool is_sharing; /* SHARE is filled */
    bool is_gone;    /* the thread has ended, not only a session */
};

struct interval {
    struct reader *reader;
    struct profile *profile;
    struct spool_load load;
    struct interval_thread *threads;
    uint32_t thread_count;
    struct interval_kept *kept;
    uint32_t kept_count;
    struct interval_fresh *fresh;
    uint32_t fresh_count;
    uint32_t *ended; /* threads that ended in this take */
    uint32_t ended_count;
    uint32_t notes[INTERVAL_NOTES];
    uint32_t note_count;                 /* may exceed INTERVAL_NOTES */
    struct interval_values taken, debts; /* since the beginning of the spool */
    struct profile_cost cost;            /* at the take before */
    uint64_t begin, counts_place; /* offsets in the spool; 0: no COUNTS */
    uint64_t until;               /* ns since the start; end of the last take */
    bool is_over, is_last;        /* IS_LAST: nothing will be added */
    dev_t device;
    ino_t inode;
    char name[128];
};

/* Have an entry of THREADS for each thread of the profile. Returns 0, or -1 if
 * memory is short, like the functions below. */
int interval_make_room(struct interval *interval);

/* Add VALUES to the sample for KEY. A negative value is a debt. */
int interval_count(struct interval *interval, const struct profile_sample *key,
                   const struct interval_values *values);

/* The two halves of a take: read what is new; make its sums and times. STATUS
 * is that of the first half, and is returned. */
int interval_read(struct interval *interval);
int interval_complete(struct interval *interval, int status);

/* Remember that the record at PLACE may change. */
int interval_keep_record(struct interval *interval, uint64_t place);

/* Take a record. IS_KNOWN: its values were taken before the position was saved.
 * Marks are in no profile of an interval. */
int interval_take_record(struct interval *interval, enum record_kind kind,
                         const void *record, bool is_known);

#endif
