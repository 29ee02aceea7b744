/* SPDX-License-Identifier: MIT */
/*
 * journal_growing.h -- the samples of the journal that may still grow: a wait,
 * and those that stand for threads which came and went without any sample or
 * look. All times are CLOCK_MONOTONIC, in ns.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_GROWING_H
#define JOURNAL_JOURNAL_GROWING_H

#include <stdint.h>

#include "store/layout.h"

struct journal_wait {
    uint64_t place;              /* of the record in the file */
    struct record_sample record; /* as it is in the file, without its head */
};

/* End WAIT, which is open, at END: it stands for WALL ns and COUNT points. */
void journal_growing_close(struct journal_wait *wait, uint64_t wall,
                           uint64_t count, uint64_t end);

/* Open WAIT, which was closed, again at NOW: it stands for WALL ns. */
void journal_growing_reopen(struct journal_wait *wait, uint64_t wall,
                            uint64_t now);

/* Number of ages of short threads that are told apart. */
#define JOURNAL_GROWING_AGES 32u

/* Write that these threads together have used CPU ns so far between AGE ns and
 * the next age. I is the index of the age. */
void journal_growing_short_threads(unsigned i, uint64_t age, uint64_t cpu);

/* An epoch begins (layout.h): what these threads use from now on has records of
 * its own. */
void journal_growing_begin_epoch(void);

#endif
