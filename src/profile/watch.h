/* SPDX-License-Identifier: MIT */
/*
 * watch.h -- a spool that is read while its process writes it: what functions
 * and threads used since the start, and in the latest interval, which is the
 * time between the last two looks.
 *
 *        look 1             look 2             look 3
 *   start  |                  |                  |
 *   +------+------------------+------------------+
 *   |                                            |  SPAN_ALL
 *                             |                  |  SPAN_INTERVAL
 *
 * Everything before the first look is its interval. A look costs what is new:
 * records that were written since the last one, and waits that go on. Memory
 * goes with the number of different stacks, threads and functions, and not with
 * that of samples.
 *
 * All is to be read directly; watch.c alone changes it. Not thread-safe.
 */
#ifndef PROFILE_WATCH_H
#define PROFILE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "functions.h"
#include "pool.h"
#include "profile.h"
#include "span.h"

struct build;
struct clocks_sample;
struct reader;
struct watch_record;
struct watch_sample;

/* Stacks of short threads that stand for those of others. */
enum { WATCH_NOTES = 64 };

/* Of a thread; its name, tid and end are in the profile, under its number. */
struct watch_thread {
    struct span_sums states[STATE_COUNT]; /* what is kept of it */
    uint64_t place;  /* in the spool, of its latest sample */
    uint32_t latest; /* number of that sample; see watch_state */
    bool has_latest; /* there is one */
    bool is_open;    /* it is a wait, and not over */
    bool has_run;    /* a sample of the interval found it running */

    /* For clocks.c. */
    uint64_t clock;    /* ns of CPU time that it had used, by its samples */
    int64_t given;     /* ns of it that its samples have */
    struct pool pool;  /* what new samples share */
    uint32_t last_run; /* 1 + number of the latest that found it running */
    bool is_sharing;   /* the pool is made */
};

struct watch {
    struct profile *profile; /* cost, threads and names; no sums */
    struct functions functions;
    struct watch_thread *threads; /* by number */
    uint32_t thread_count;
    struct span_sums totals;     /* what the filter keeps */
    struct span_sums everything; /* without it */
    uint64_t length[SPAN_COUNT]; /* ns of sampling, by the ticks */
    uint64_t taken[SPAN_COUNT];  /* samples of threads that ran */
    uint64_t period;             /* ns between sample points; 0 unknown */
    enum control_state control;  /* if HAS_CONTROL */
    enum end_reason reason;      /* if HAS_ENDED */
    bool has_control;
    bool has_ended; /* the library wrote the last record */

    /* For watch.c alone. */
    const struct filter_options *filter;
    struct reader *reader;
    struct build *build;
    struct watch_sample *samples; /* by number of the profile's samples */
    uint32_t sample_count;
    uint32_t *changed; /* samples that have something in the interval */
    uint32_t changed_count;
    struct watch_record *records; /* that may change in place */
    uint32_t record_count;
    bool has_renamed;                     /* threads, in this look */
    uint64_t counts_place, control_place; /* 0: there is none */
    uint64_t first, last;                 /* ns, of sampling */
    uint64_t names_due;          /* when generated code may be named anew */
    struct clocks_sample *fresh; /* without their share, see clocks.h */
    uint32_t fresh_count;
    uint32_t *ended; /* threads that ended since */
    uint32_t ended_count;
    uint32_t notes[WATCH_NOTES]; /* stacks of short threads, the latest ones */
    uint32_t note_count;         /* so far */
};

/*
 * Watch READER, whose spool is of one process (version SPOOL_VERSION). FILTER
 * and READER must outlive it, and READER must not be used besides. Nothing is
 * read yet. Returns NULL with errno set if memory is short.
 */
struct watch *watch_new(struct reader *reader,
                        const struct filter_options *filter,
                        const struct symbolizer_options *options);

/* Look. Returns 0, or -1 with errno set if memory is short. What is wrong with
 * the spool is reader_problem's to say. */
int watch_look(struct watch *watch);

/*
 * What THREAD did when it was looked at: "running", "runnable", the system call
 * that it waits in, or "waiting"; "ended"; or "-" if that is not known.
 * *WAITS_ON is what it waits for, "" if it does not or that is not known.
 */
const char *watch_state(const struct watch *watch, uint32_t thread,
                        const char **waits_on);

/* NULL is allowed. */
void watch_free(struct watch *watch);

#endif
