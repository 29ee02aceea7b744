/* SPDX-License-Identifier: MIT */
/*
 * recorder.c -- see recorder.h. A rotation touches nothing that interrupts
 * threads, and questions in flight are answered after it: no sample is lost, or
 * counted twice. Each thread's time is split at one instant; a rest that is not
 * shown by then goes into the next file.
 *
 * Only time in which sampling is on counts, because nothing else fills a file.
 */
#include <errno.h>
#include <stdbool.h>

#include "base/clock.h"
#include "journal/journal.h"
#include "afford.h"
#include "counts.h"
#include "roster.h"
#include "session.h"
#include "recorder.h"

/* Percent of free room below which a file is full: one tick may write as much.
 */
#define ROOM_PERCENT 25u

/* ns before another try after a failure. */
#define AGAIN_NS 1000000000u

static uint64_t keep, due; /* ns of sampling */
static int error;

void
recorder_begin(const struct settings *settings)
{
    keep = due = settings->options->keep.number;
    error = 0;
}

/* Rotate the journal. If this fails, nothing has changed. */
static void
rotate_now(void)
{
    session_harvest();
    error = journal_prepare() == 0 ? 0 : errno;
    if (error != 0) {
        due += keep < AGAIN_NS ? keep : AGAIN_NS;
        return;
    }
    uint64_t now = clock_now();
    roster_before_rotate(now);
    afford_publish();
    counts_rotate(now);
    journal_rotate();
    roster_after_rotate();
    afford_rotate(now);
    counts_publish(now, false);
    due = session_sampled(now) + keep;
}

void
recorder_rotate_if_due(bool may_rotate)
{
    if (keep == 0)
        return;
    bool is_full = journal_room() < ROOM_PERCENT && error == 0;
    bool is_time = may_rotate && session_sampled(clock_now()) >= due;
    if (is_time || is_full)
        rotate_now();
}

int
recorder_error(void)
{
    return error;
}
