/* SPDX-License-Identifier: MIT */
/*
 * journal_live.c -- see journal_live.h. The stacks of all threads have one
 * place in the file, which is written again and again. So a process that is
 * asked every second does not fill the disk. When there are more threads, a
 * larger place is taken. The size doubles, so that all places left behind are
 * together no larger than the one in use.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "journal.h"
#include "journal_live.h"

/* Least number of entries in a place for stacks. */
#define CAPACITY_LEAST 64u

/* The last record of stacks, as it is in the file without its head; NULL: none
 * yet. */
static struct record_stacks *stacks;
static size_t size;               /* bytes of the record */
static OF_PROFILE uint64_t place; /* in the file of PLACE_GENERATION; 0: none */
static OF_PROFILE uint32_t place_generation;

/* Returns the place of the stacks in the present file; 0: none. */
static uint64_t
present_place(void)
{
    return place_generation == journal_generation() ? place : 0;
}

void
journal_live_mark(enum mark_kind mark, const char *text, uint64_t now)
{
    struct record_mark record = {.time = journal_time(now),
                                 .mark = mark,
                                 .text_length = (uint16_t)(strlen(text) + 1)};
    const struct writer_tail tail = {text, record.text_length};
    (void)journal_append(RECORD_MARK, &record, sizeof(record), &tail, 1);
}

void
journal_live_answer(uint32_t nonce, int error, const char *text)
{
    struct record_answer record = {.time = journal_time(clock_now()),
                                   .nonce = nonce,
                                   .error = (uint32_t)error,
                                   .text_length = (uint16_t)(strlen(text) + 1)};
    const struct writer_tail tail = {text, record.text_length};
    (void)journal_append(RECORD_ANSWER, &record, sizeof(record), &tail, 1);
    journal_flush();
}

/* Make room for CAPACITY entries. Returns 0, or -1. */
static int
make_room_for_stacks(uint32_t capacity)
{
    uint32_t larger = CAPACITY_LEAST;
    if (stacks != NULL && stacks->capacity >= capacity)
        return 0;
    while (larger < capacity)
        larger *= 2;
    sys_release(stacks, size);
    place = 0;
    size = sizeof(*stacks) + larger * sizeof(struct stacks_entry);
    stacks = sys_reserve(size);
    if (stacks == NULL)
        return -1;
    stacks->capacity = larger;
    return 0;
}

struct stacks_entry *
journal_live_stacks_begin(uint32_t capacity)
{
    if (make_room_for_stacks(capacity) != 0)
        return NULL;
    struct stacks_entry *entries = (struct stacks_entry *)(stacks + 1);
    if (present_place() == 0) {
        const struct writer_tail tail = {entries, size - sizeof(*stacks)};
        stacks->sequence = 0;
        place_generation = journal_generation();
        place =
            journal_append(RECORD_STACKS, stacks, sizeof(*stacks), &tail, 1);
    }
    return place != 0 ? entries : NULL;
}

/* Write LENGTH bytes of the record, from FROM on, to the file. */
static void
store_stacks(size_t from, size_t length)
{
    journal_change(present_place(), from, (const char *)stacks + from, length);
    journal_flush();
}

/* Records to which the entries refer are in the file before them. The sequence
 * is odd while they change. */
void
journal_live_stacks_end(uint32_t nonce, uint32_t count, uint64_t start,
                        uint64_t ns)
{
    const size_t sequence = offsetof(struct record_stacks, sequence);
    const size_t time = offsetof(struct record_stacks, time);
    stacks->sequence |= 1;
    store_stacks(sequence, sizeof(stacks->sequence));
    stacks->time = journal_time(start);
    stacks->took = ns;
    stacks->nonce = nonce;
    stacks->count = count;
    store_stacks(time,
                 sizeof(*stacks) + count * sizeof(struct stacks_entry) - time);
    stacks->sequence++;
    store_stacks(sequence, sizeof(stacks->sequence));
}
