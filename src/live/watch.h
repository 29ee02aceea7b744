/* SPDX-License-Identifier: MIT */
/*
 * watch.h -- a spool that is read while its process writes it. The sums are
 * those of functions and threads since the start and in the latest interval.
 * The interval is the time between the last two looks.
 *
 *          look 1             look 2             look 3
 *     start  |                  |                  |
 *     +------+------------------+------------------+
 *     |                                            |  SPAN_ALL
 *                               |                  |  SPAN_INTERVAL
 *
 * The interval of the first look is everything before it. The cost of a look
 * grows with the news: the records since the last look, and the waits that go
 * on. Memory grows with the number of different stacks, threads and functions,
 * not with the number of samples.
 *
 * Callers may read all fields and change none. watch.c, cpu_share.c and apply.c
 * change them. Not thread-safe.
 */
#ifndef LIVE_WATCH_H
#define LIVE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "util/share.h"

struct filter_options;
struct intern;
struct spool_load;
struct cpu_sample;
struct reader;
struct watch_record;
struct watch_sample;

/* A live view counts the same values for the latest interval and for all the
 * time. */
enum span { SPAN_INTERVAL, SPAN_ALL, SPAN_COUNT };

/* The sum of an interval may be negative. A wait that was believed to go on may
 * have ended already; the surplus is then taken back. */
struct span_sums {
    int64_t values[SPAN_COUNT][VALUE_COUNT];
    double squares[SPAN_COUNT][VALUE_COUNT]; /* view/confidence.h */
};

/* *TO += VALUE. Numbers of a damaged spool may wrap; the sum is then
 * meaningless. */
static inline void
span_add(int64_t *to, int64_t value)
{
    *to = (int64_t)((uint64_t)*to + (uint64_t)value);
}

static inline void
span_add_sums(struct span_sums *to, const struct span_sums *sums)
{
    for (unsigned i = 0; i < SPAN_COUNT; i++)
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            span_add(&to->values[i][j], sums->values[i][j]);
            to->squares[i][j] += sums->squares[i][j];
        }
}

/* End the interval: the next one begins with zeros. */
static inline void
span_begin(struct span_sums *sums)
{
    for (unsigned j = 0; j < VALUE_COUNT; j++) {
        sums->values[SPAN_INTERVAL][j] = 0;
        sums->squares[SPAN_INTERVAL][j] = 0;
    }
}

struct function {
    const char *name, *module; /* strings of the profile; "": no module */
    struct span_sums self, total;
    uint64_t stamp; /* of the stack that was counted last */
    bool *matches;  /* by term of the filter; NULL without a filter */
};

/* The functions at a node of the profile: COUNT entries of FRAMES from FIRST
 * on, the innermost first. COUNT is 0 until the node is named. */
struct functions_place {
    uint32_t first, count;
};

/* Sums for each function of a profile that grows (functions.c). SELF is what
 * was spent in the function itself; TOTAL is what was spent while it was on the
 * stack (a recursion counts once). table.h makes its rows from all samples;
 * here each new stack is added to the rows. A place in code is named when the
 * first stack that contains it comes. It keeps its function until
 * functions_forget. */
struct functions {
    struct profile *profile;
    const struct filter_options *filter;
    struct intern *names;  /* (name, module) as numbers of strings */
    struct function *rows; /* by number in NAMES */
    uint32_t count;
    struct functions_place *places;
    uint32_t place_count;
    uint32_t *frames;
    uint32_t frame_count;
    uint64_t stamp;
    bool has_nameless; /* a stack had generated code without a name */
};

/* Limit of the stacks of short threads that are remembered. They stand for the
 * stacks of other short threads. */
enum { WATCH_NOTES = 64 };

/* The sums of a thread. Its name, tid and end are in the profile, under the
 * same number. */
struct watch_thread {
    struct span_sums
        states[STATE_COUNT]; /* of the samples that the filter keeps */
    uint64_t place;          /* in the spool, of its latest sample */
    uint32_t latest;         /* number of that sample; see watch_state */
    bool has_latest;         /* LATEST is valid */
    bool is_open;            /* the latest sample is a wait that goes on */
    bool has_run;            /* a sample of the interval found it running */
    bool is_gone;            /* it has ended, and not only a session or file */

    /* Used by cpu_share.c and apply.c. */
    uint64_t clock;     /* ns of CPU time used, according to its samples */
    int64_t given;      /* ns of CPU time that its samples were given */
    struct share share; /* the CPU time that its new samples share */
    uint32_t last_run;  /* 1 + number of its latest running sample; 0: none */
    bool is_sharing;    /* SHARE is filled */
};

struct watch {
    struct profile *profile; /* cost, threads and names; no sums */
    struct functions functions;
    struct watch_thread *threads; /* by number of the profile's threads */
    uint32_t thread_count;
    struct span_sums totals;     /* of the samples that the filter keeps */
    struct span_sums everything; /* of all samples */
    uint64_t length[SPAN_COUNT]; /* ns of sampling, according to the ticks */
    uint64_t period;             /* ns between sample points; 0: unknown */
    enum control_state control;  /* valid if HAS_CONTROL */
    enum end_reason reason;      /* valid if HAS_ENDED */
    bool has_control;
    bool has_ended; /* the library wrote the last record */

    /* For the files of this module, not for callers. */
    const struct filter_options *filter;
    struct reader *reader;
    struct spool_load *load;
    struct watch_sample *samples; /* by number of the profile's samples */
    uint32_t sample_count;
    uint32_t *changed; /* samples whose sums changed in the interval */
    uint32_t changed_count;
    struct watch_record *records; /* records that may change in place */
    uint32_t record_count;
    bool has_renamed; /* a thread was renamed in this look */
    uint64_t counts_place, control_place; /* in the spool; 0: no such record */
    uint64_t first, last; /* ns, bounds of the sampling so far */
    uint64_t names_due;   /* earliest time to name generated code anew, ns */
    struct cpu_sample *fresh; /* samples without a share yet, see cpu_share.c */
    uint32_t fresh_count;
    uint32_t *ended; /* threads that ended since the last look */
    uint32_t ended_count;
    uint32_t notes[WATCH_NOTES]; /* latest stacks of short threads */
    uint32_t note_count; /* stacks noted so far, may exceed WATCH_NOTES */
};

/*
 * Watch READER, whose spool is of one process (version SSHARE_VERSION). FILTER
 * and READER must outlive the watch, and only the watch may use READER. This
 * function reads no record. Returns NULL with errno set if memory is short.
 */
struct watch *watch_new(struct reader *reader,
                        const struct filter_options *filter,
                        const struct symbolizer_options *options);

/* PID is the pid of the process in this namespace. */
void watch_tell_pid(struct watch *watch, uint32_t pid);

/* Look: read what is new and bring all sums up to date. Returns 0, or -1 with
 * errno set if memory is short. reader_problem says what is wrong with the
 * spool. */
int watch_look(struct watch *watch);

/*
 * The activity of THREAD at the latest look. The result is that of
 * sample_state_name, "ended", or "-" if unknown. *WAITS_ON is what the thread
 * waits for, "" if it does not wait or if that is unknown.
 */
const char *watch_state(const struct watch *watch, uint32_t thread,
                        const char **waits_on);

/* Release WATCH; NULL is allowed. */
void watch_free(struct watch *watch);

#endif
