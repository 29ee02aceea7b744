/* SPDX-License-Identifier: MIT */
/*
 * watch_parts.h -- the parts of watch.c, which share the fields of its struct.
 *
 *    functions.c  the sums for each function.
 *    cpu_share.c  the CPU time of the threads' own clocks, shared by their
 * samples. weigh.h does the same for a whole spool; this is for
 *                 one that still grows.
 *    apply.c      how much a sample record contributes right now. Records
 * change in place. So the last contribution is remembered, and only the
 *                 difference, which may be negative, is added. At the end of a
 *                 look the filter judges each sample that changed. The samples
 *                 that it keeps are counted for their threads, for their
 *                 functions and in total.
 */
#ifndef LIVE_WATCH_PARTS_H
#define LIVE_WATCH_PARTS_H

#include "watch.h"

struct record_sample;

struct contribution {
    int64_t cpu; /* ns, if the sample found its thread running; else 0 */
    int64_t all[VALUE_COUNT],
        kept[VALUE_COUNT]; /* KEPT: the part within the filter's time */
};

/* The contribution of RECORD, which is of THREAD. */
struct contribution apply_contribution(const struct watch *watch,
                                       const struct record_sample *record,
                                       uint32_t thread);

/* Add the difference between GIVEN and BEFORE to SAMPLE. BEFORE is NULL if
 * nothing of the record was counted yet. Returns 0, or -1 if memory is short.
 */
int apply_count(struct watch *watch, uint32_t sample,
                const struct contribution *given,
                const struct contribution *before);

/* A sample that has no share yet, as it was recorded. */
struct cpu_sample {
    uint32_t sample, count;
    uint64_t time, cpu, wall; /* ns */
};

/* Take RECORD, which found its thread running; it belongs to sample number
 * SAMPLE. Returns 0, or -1 if memory is short. */
int cpu_share_put(struct watch *watch, const struct record_sample *record,
                  uint32_t sample);

/* Take the end of THREAD. Returns 0, or -1 if memory is short. */
int cpu_share_put_end(struct watch *watch, uint32_t thread);

/* Count the difference between GIVEN and BEFORE: CPU time of THREAD during
 * which no sample was taken. Returns 0, or -1 if memory is short. */
int cpu_share_spread(struct watch *watch, uint32_t thread,
                     const struct contribution *given,
                     const struct contribution *before);

/* Give every sample that was taken its share, and count it. Returns 0, or -1 if
 * memory is short. */
int cpu_share_all(struct watch *watch);

enum watch_verdict { VERDICT_OPEN, VERDICT_KEEP, VERDICT_DROP };

/* Stands beside a sample of the profile: its sums within the filter's time. */
struct watch_sample {
    struct span_sums sums;
    int64_t pending[VALUE_COUNT]; /* not applied yet */
    double squares[VALUE_COUNT];  /* of PENDING */
    enum watch_verdict verdict;
    bool is_changed; /* it is in watch->changed */
};

/* Make watch->samples and watch->threads as long as the profile's. Returns 0,
 * or -1 if memory is short. */
int apply_room(struct watch *watch);

/* Begin a new interval: set all its sums to zero. */
void apply_begin(struct watch *watch);

/* Apply what is pending. Returns 0, or -1 if memory is short. */
int apply_pending(struct watch *watch);

/* Judge and count everything anew, because names have changed. Returns 0, or -1
 * if memory is short. */
int apply_anew(struct watch *watch);

/* Judge and count everything anew if a runtime has named more of its code. A
 * runtime may write these names after the code was seen to run. Returns 0, or
 * -1 if memory is short. */
int apply_new_names(struct watch *watch);

/* Name the functions on the stack NODE. Call it before functions_keep and
 * functions_add. Returns 0, or -1 if memory is short. */
int functions_name(struct functions *functions, uint32_t node);

/* Whether the filter's expressions (not its labels) keep the stack NODE. */
bool functions_keep(const struct functions *functions, uint32_t node);

/* Add SUMS to the functions on the stack NODE. */
void functions_add(struct functions *functions, uint32_t node,
                   const struct span_sums *sums);

/* End the interval: the next one begins with zeros. */
void functions_begin_interval(struct functions *functions);

/* Forget all sums and the names of all places. */
void functions_forget(struct functions *functions);

void functions_release(struct functions *functions);

#endif
