/* SPDX-License-Identifier: MIT */
/*
 * journal_short_threads.c -- see journal_short_threads.h. Each age has one
 * record, which grows.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "store/writer.h"
#include "journal.h"
#include "journal_short_threads.h"

/* One thread of the spool stands for all these threads. */
#define UNSEEN_THREAD UINT32_MAX
#define UNSEEN_NAME "[short-lived]"

static uint64_t unseen[JOURNAL_SHORT_THREADS_AGES]; /* places; 0: none */
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
journal_short_threads_add(unsigned i, uint64_t age, uint64_t cpu)
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
