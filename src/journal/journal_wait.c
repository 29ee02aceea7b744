/* SPDX-License-Identifier: MIT */
/* journal_wait.c -- see journal_wait.h. */
#include <stddef.h>

#include "journal.h"
#include "journal_wait.h"

/* All fields that grow lie between these two; the flags come last. */
static void
store_wait(const struct journal_wait *wait)
{
    const size_t from = offsetof(struct record_sample, duration);
    const size_t to = offsetof(struct record_sample, flags) + 4;
    journal_change(wait->place, from, (const char *)&wait->record + from,
                   to - from);
}

void
journal_wait_close(struct journal_wait *wait, uint64_t wall, uint64_t count,
                   uint64_t end)
{
    uint64_t time = journal_time(end);
    if (time > wait->record.time)
        wait->record.duration = time - wait->record.time;
    wait->record.count = count;
    wait->record.wall = wall;
    wait->record.flags = 0;
    store_wait(wait);
}

void
journal_wait_reopen(struct journal_wait *wait, uint64_t wall, uint64_t now)
{
    wait->record.duration = journal_time(now) - wait->record.time;
    wait->record.wall = wall;
    wait->record.flags = SAMPLE_OPEN;
    store_wait(wait);
}
