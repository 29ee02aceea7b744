/* SPDX-License-Identifier: MIT */
/* journal_wait.h -- a sample of the journal that may grow yet. Sampler thread
 * alone; times are CLOCK_MONOTONIC. */
#ifndef AGENT_JOURNAL_WAIT_H
#define AGENT_JOURNAL_WAIT_H

#include <stdint.h>

#include "store/layout.h"

struct journal_wait {
    uint64_t place;              /* in the file */
    struct record_sample record; /* as it is there, but for its head */
};

/* WAIT, an open one, is over at END: it stands for WALL ns and COUNT points. */
void journal_wait_close(struct journal_wait *wait, uint64_t wall,
                        uint64_t count, uint64_t end);

/* WAIT, which was closed, is open again at NOW and stands for WALL ns. */
void journal_wait_reopen(struct journal_wait *wait, uint64_t wall,
                         uint64_t now);

#endif
