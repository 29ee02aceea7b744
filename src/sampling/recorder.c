/* SPDX-License-Identifier: MIT */
/*
 * recorder.c -- see recorder.h. A rotation touches nothing that interrupts
 * threads, and questions in flight are answered after it: no sample is lost, or
 * counted twice. Each thread's time is split at one instant. A rest that is not
 * shown by then goes into the next file.
 *
 * Only time with sampling on counts, because only samples fill a file.
 */
#include <errno.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/text.h"
#include "journal/journal.h"
#include "journal/journal_live.h"
#include "afford.h"
#include "counts.h"
#include "roster.h"
#include "session.h"
#include "thread_time.h"
#include "recorder.h"

/* Percent of free room below which a file is full: one tick may write as much.
 */
#define ROOM_PERCENT 25u

/* ns before another try after a failure. */
#define AGAIN_NS 1000000000u

static OF_PROFILE uint64_t keep, due; /* ns of sampling */
static OF_PROFILE int error;
static OF_PROFILE uint64_t lost, before; /* number of samples: in all shortened
                                 spools, and up to the last time */

void
recorder_begin(const struct settings *settings)
{
    keep = due = settings->options->keep.number;
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

/* Write a mark: a reader of the file must know that it does not show all. */
static void
mark_loss(uint64_t now)
{
    char words[128];
    struct text text;
    text_begin(&text, words, sizeof(words));
    text_add(&text, "the spool was shortened: ");
    text_add_grouped(&text, lost);
    text_add(&text, " samples before this are not in it");
    journal_live_mark(MARK_USER, words, now);
}

/* As in a rotation, each thread's time is split at one instant. The new file
 * has all time after that instant, and is complete in itself. A user who copied
 * the file before shortening it has two files that follow one another. */
void
recorder_begin_again(void)
{
    const struct journal_sums *sums = thread_time_sums();
    if (journal_error() != ENODATA)
        return;
    uint64_t now = clock_now(), taken = sums->counts.taken + sums->measured;
    bool is_on = session_is_on();
    if (is_on)
        roster_before_rotate(now);
    counts_rotate(now);
    if (journal_restart(now) != 0)
        return;
    if (is_on)
        roster_after_rotate();
    afford_rotate(now);
    lost += taken - before;
    before = taken;
    mark_loss(now);
    counts_publish(now, false);
    journal_state(is_on ? CONTROL_SAMPLING : CONTROL_STOPPED, now);
}

uint64_t
recorder_lost(void)
{
    return lost;
}
