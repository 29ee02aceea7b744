/* SPDX-License-Identifier: MIT */
/* journal_wait.h -- a sample of the journal that may still grow: a wait. All
 * times are CLOCK_MONOTONIC, in ns.
 * Context: sampler. */
#ifndef JOURNAL_JOURNAL_WAIT_H
#define JOURNAL_JOURNAL_WAIT_H

#include <stdint.h>

#include "store/layout.h"

struct journal_wait {
    uint64_t place;              /* of the record in the file */
    struct record_sample record; /* as it is in the file, without its head */
};

/* End WAIT, which is open, at END: it stands for WALL ns and COUNT points. */
void journal_wait_close(struct journal_wait *wait, uint64_t wall,
                        uint64_t count, uint64_t end);

/* Open WAIT, which was closed, again at NOW: it stands for WALL ns. */
void journal_wait_reopen(struct journal_wait *wait, uint64_t wall,
                         uint64_t now);

#endif
