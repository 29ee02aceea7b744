/* SPDX-License-Identifier: MIT */
/*
 * journal_progress.h -- writes the records near the beginning of a file that
 * are changed in place: the counters, and how a command can reach the process.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_PROGRESS_H
#define JOURNAL_JOURNAL_PROGRESS_H

#include <stdint.h>

#include "sampling/thread_time.h"

/* These records as they are in the file, and their places. */
struct journal_head {
    uint64_t counts_place, rate_place, control_place;
    struct {
        struct record_counts record;
        uint64_t lost[LOSS_COUNT], cut[CUT_COUNT], expired;
    } counts;
    struct {
        struct record_rate record;
        struct rate_entry entries[LIMIT_COUNT];
    } rate;
    struct record_control control;
};

/* Append these records to the file, so that a killed process leaves its last
 * counts. The counters are zero; the control record is that of the previous
 * file. Samples of running threads are due every PERIOD ns of CPU time. */
void journal_progress_write(struct journal_head *head, uint64_t period);

/* Let the functions below change HEAD from now on. NULL: they change nothing.
 */
void journal_progress_use(struct journal_head *head);

/* journal_progress_state: the process is in STATE (enum control_state) since
 * NOW. journal_progress_signal: SIGNO carries requests; 0: no signal does. */
void journal_progress_state(uint32_t state, uint64_t now);
void journal_progress_signal(int signo);

/* Write SUMS into the counters. */
void journal_progress_counts(const struct thread_time_sums *sums);

#endif
