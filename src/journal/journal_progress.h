/* SPDX-License-Identifier: MIT */
/*
 * journal_progress.h -- writes the records near the beginning of a file that
 * are changed in place: the counters, and how a command can reach the process.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_PROGRESS_H
#define JOURNAL_JOURNAL_PROGRESS_H

#include <stdint.h>

#include "base/loss.h"
#include "base/sample.h"
#include "store/layout.h"
#include "store/writer.h"

/* The sums of the whole profile: asked = taken + lost + in flight. */
struct journal_sums {
    struct record_counts counts;
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT];
    uint64_t expired; /* waits, as clock_expired counts them */
    /* Of the samples that threads take of their own running, by what limited
     * their rate: ns of CPU time in which they were due, and how many were
     * taken. */
    uint64_t due_cpu[LIMIT_COUNT];
    uint64_t due_taken[LIMIT_COUNT];
    /* The rest is not written. */
    uint64_t in_flight;
    uint64_t measured;  /* samples of calls that a hook measured; no question
                           asked for them */
    uint64_t unsampled; /* records of CPU time that must not be sampled */
    uint64_t handled;   /* ns in the handler, as far as it used a CPU */
};

/* A file of the journal: its writer, and the records of its head as they are in
 * the file, with their places. */
struct journal_head {
    struct writer *writer; /* NULL: there is no file */
    uint64_t start;        /* of all times in it: CLOCK_MONOTONIC ns */
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

/* Append these records to HEAD's file, so that a killed process leaves its last
 * counts. The counters are zero; the control record is that of the previous
 * file. Samples of running threads are due every PERIOD ns of CPU time. */
void journal_progress_write(struct journal_head *head, uint64_t period);

/* Let the functions below change HEAD from now on. NULL: they have no effect.
 */
void journal_progress_use(struct journal_head *head);

/* journal_progress_state: the process is in STATE (enum control_state) since
 * NOW. journal_progress_signal: SIGNO carries requests; 0: no signal does. */
void journal_progress_state(uint32_t state, uint64_t now);
void journal_progress_signal(int signo);

/* Write SUMS into the counters. */
void journal_progress_counts(const struct journal_sums *sums);

#endif
