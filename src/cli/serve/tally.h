/* SPDX-License-Identifier: MIT */
/*
 * tally.h -- what a process has done so far, as counters that only grow. A look
 * reads the records that its spool got since the last look, and again those
 * that may have changed in place. No stack is named, so a look is cheap.
 *
 * The counters go on where a flight recorder's spool is followed by the next
 * one: the caller looks at the old spool once more, and then calls
 * tally_change_spool. Not thread-safe.
 */
#ifndef CLI_SERVE_TALLY_H
#define CLI_SERVE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loss.h"
#include "base/sample.h"

struct tally_sums {
    uint64_t wall[STATE_COUNT]; /* ns */
    uint64_t taken, asked, peeked;
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT];
    uint64_t process_cpu, sampler_cpu, stopped; /* ns */
};

struct tally_record;
struct tally_thread;

struct tally {
    struct tally_sums sums; /* for the caller to read */

    struct tally_sums before;     /* of the spools before this one */
    struct tally_sums now;        /* of this spool */
    uint64_t offset;              /* of the next record; 0: none was read */
    uint64_t counts_place;        /* of the record COUNTS; 0: none yet */
    uint64_t last_tick;           /* ns since the start of the process */
    struct tally_record *records; /* that may change */
    uint32_t record_count;
    struct tally_thread *threads; /* by id in the spool */
    uint32_t thread_count;
};

/* Look at the spool at PATH. Returns 0, or -1 with a sentence in ERROR (of SIZE
 * bytes); the counters then stay as they were. */
int tally_look(struct tally *tally, const char *path, char *error, size_t size);

/* The next look is at another spool of the same process. */
void tally_change_spool(struct tally *tally);

void tally_release(struct tally *tally);

#endif
