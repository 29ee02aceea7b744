/* SPDX-License-Identifier: MIT */
/* journal_growing.c -- see journal_growing.h. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "store/writer.h"
#include "journal.h"
#include "journal_growing.h"

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
journal_growing_close(struct journal_wait *wait, uint64_t wall, uint64_t count,
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
journal_growing_reopen(struct journal_wait *wait, uint64_t wall, uint64_t now)
{
    wait->record.duration = journal_time(now) - wait->record.time;
    wait->record.wall = wall;
    wait->record.flags = SAMPLE_OPEN;
    store_wait(wait);
}

/* One thread of the spool stands for all short threads. */
#define UNSEEN_THREAD UINT32_MAX
#define UNSEEN_NAME "[short-lived]"

/* One record for each age. */
static uint64_t unseen[JOURNAL_GROWING_AGES]; /* places; 0: none */
static uint32_t generation; /* of the file that the places are in */

static uint64_t
begin_unseen(uint64_t age)
{
    uint64_t now = journal_time(clock_now());
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, (struct journal_place){0}, now, now);
    sample.thread = UNSEEN_THREAD;
    sample.trigger = TRIGGER_NONE;
    sample.count = 0; /* no point was asked for */
    sample.age = age;
    return journal_append(RECORD_SAMPLE, &sample, sizeof(sample), NULL, 0);
}

void
journal_growing_short_threads(unsigned i, uint64_t age, uint64_t cpu)
{
    const size_t wall = offsetof(struct record_sample, wall);
    const uint64_t both[] = {cpu, cpu}; /* wall and cpu are neighbours */
    if (generation != journal_generation())
        memset(unseen, 0, sizeof(unseen));
    generation = journal_generation();
    if (i == 0 && unseen[0] == 0)
        journal_thread_as(UNSEEN_THREAD, 0, UNSEEN_NAME);
    if (unseen[i] == 0)
        unseen[i] = begin_unseen(age);
    journal_change(unseen[i], wall, both, sizeof(both));
}

void
journal_growing_begin_epoch(void)
{
    memset(unseen, 0, sizeof(unseen));
}
