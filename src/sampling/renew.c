/* SPDX-License-Identifier: MIT */
/*
 * renew.c -- see renew.h. As in a rotation (recorder.c), each thread's time is
 * split at one instant. What was before it went into the file that is no more;
 * the new file has what comes after, complete in itself. A user who copied the
 * file before shortening it has two files that follow one another.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/text.h"
#include "journal/journal.h"
#include "journal/journal_live.h"
#include "journal/journal_progress.h"
#include "afford.h"
#include "counts.h"
#include "roster.h"
#include "session.h"
#include "thread_time.h"
#include "renew.h"

static uint64_t lost, before; /* number of samples: in all shortened spools, and
                                 up to the last time */

void
renew_begin(void)
{
    lost = before = 0;
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

void
renew_heed(void)
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
    journal_progress_state(is_on ? CONTROL_SAMPLING : CONTROL_STOPPED, now);
}

uint64_t
renew_lost(void)
{
    return lost;
}
