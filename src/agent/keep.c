/* SPDX-License-Identifier: MIT */
/*
 * keep.c -- see keep.h. Nothing that interrupts threads is touched by a turn,
 * and what was asked and not answered is answered after it: no sample is lost,
 * or counted twice. Each thread's time is split at one instant; what is at most
 * left over by then goes into the next file.
 *
 * Only time in which sampling is on counts, as nothing else fills a file.
 */
#include <errno.h>
#include <stdbool.h>

#include "base/clock.h"
#include "counts.h"
#include "journal.h"
#include "keep.h"
#include "roll.h"
#include "service.h"
#include "session.h"

/* A file that has no more room than this is full: one tick may write as much.
 */
#define ROOM_PERCENT 25u

/* After a failure. */
#define AGAIN_NS 1000000000u

static uint64_t keep, due; /* ns of sampling */
static int error;

void
keep_begin(uint64_t ns)
{
    keep = due = ns;
    error = 0;
}

/* Nothing has changed if this fails. */
static void
turn(void)
{
    session_harvest();
    error = journal_prepare() == 0 ? 0 : errno;
    if (error != 0) {
        due += keep < AGAIN_NS ? keep : AGAIN_NS;
        return;
    }
    uint64_t now = clock_now();
    roll_turn(now);
    counts_turn(now);
    journal_turn();
    roll_go_on();
    counts_publish(now, false);
    due = session_sampled(now) + keep;
}

/* What runs beside the program reads the files: it is to find what it was told
 * to look for. */
void
keep_heed(void)
{
    if (keep == 0)
        return;
    bool is_full = journal_room() < ROOM_PERCENT && error == 0;
    bool is_time = session_sampled(clock_now()) >= due && !service_is_busy();
    if (is_time || is_full)
        turn();
}

int
keep_error(void)
{
    return error;
}
