/* SPDX-License-Identifier: MIT */
/*
 * renew.c -- see renew.h. As for a flight recorder (keep.c), each thread's time
 * is split at one instant: what was before it went into the file that is no
 * more, and the new one tells what comes after, complete in itself. Whoever
 * copied the file before he shortened it has two that follow one another.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/text.h"
#include "account.h"
#include "counts.h"
#include "journal.h"
#include "journal_head.h"
#include "journal_live.h"
#include "renew.h"
#include "roll.h"
#include "session.h"

static uint64_t lost, before; /* samples: in all, and up to the last time */

void
renew_begin(void)
{
    lost = before = 0;
}

/* Who reads the file is to know that it does not tell all. */
static void
tell(uint64_t now)
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
    const struct account_sums *sums = account_sums();
    if (journal_error() != ENODATA)
        return;
    uint64_t now = clock_now(), taken = sums->counts.taken + sums->measured;
    bool is_on = session_is_on();
    if (is_on)
        roll_turn(now);
    counts_turn(now);
    if (journal_restart(now) != 0)
        return;
    if (is_on)
        roll_go_on();
    lost += taken - before;
    before = taken;
    tell(now);
    counts_publish(now, false);
    journal_head_state(is_on ? CONTROL_SAMPLING : CONTROL_STOPPED, now);
}

uint64_t
renew_lost(void)
{
    return lost;
}
