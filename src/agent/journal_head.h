/* SPDX-License-Identifier: MIT */
/*
 * journal_head.h -- the records near the beginning of a file that are changed
 * in place: the counters, and how the process can be spoken to. Sampler thread
 * alone, but for journal_head_write and journal_head_use.
 */
#ifndef AGENT_JOURNAL_HEAD_H
#define AGENT_JOURNAL_HEAD_H

#include <stdint.h>

#include "account.h"

/* All as they are in the file, and where. */
struct journal_head {
    uint64_t counts_place, rate_place, control_place;
    struct {
        struct record_counts record;
        uint64_t lost[LOSS_COUNT], cut[CUT_COUNT];
    } counts;
    struct {
        struct record_rate record;
        struct rate_entry entries[LIMIT_COUNT];
    } rate;
    struct record_control control;
};

/* Append them, so that a killed process leaves its last counts: these are zeros
 * now, and of the process is said what was said in the file before. Samples of
 * running threads are due every PERIOD ns of CPU time. */
void journal_head_write(struct journal_head *head, uint64_t period);

/* From now on what follows changes HEAD; NULL: nothing. */
void journal_head_use(struct journal_head *head);

/* STATE is enum control_state, since NOW; SIGNO carries requests, 0: none does.
 */
void journal_head_state(uint32_t state, uint64_t now);
void journal_head_signal(int signo);

/* Let the counters be those of SUMS. */
void journal_head_counts(const struct account_sums *sums);

#endif
