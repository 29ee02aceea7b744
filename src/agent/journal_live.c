/* SPDX-License-Identifier: MIT */
/*
 * journal_live.c -- see journal_live.h. The stacks of all threads have one
 * place in the file, which is written again and again, so that a process that
 * is asked every second does not fill the disk. A larger place is taken when
 * there are more threads; it doubles, so that what is left behind is no more
 * than what is in use.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "journal.h"
#include "journal_live.h"

#define CAPACITY_LEAST 64u

/* The last one, as it is in the file but for its head; NULL: none yet. */
static struct record_stacks *stacks;
static size_t size;    /* bytes of it */
static uint64_t place; /* in the file, 0: of another one, or none */

void
journal_live_begin(void)
{
    place = 0;
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
make_room(uint32_t capacity)
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
    if (make_room(capacity) != 0)
        return NULL;
    struct stacks_entry *entries = (struct stacks_entry *)(stacks + 1);
    if (place == 0) {
        const struct writer_tail tail = {entries, size - sizeof(*stacks)};
        stacks->sequence = 0;
        place =
            journal_append(RECORD_STACKS, stacks, sizeof(*stacks), &tail, 1);
    }
    return place != 0 ? entries : NULL;
}

/* All from the field at FROM on, or that alone. */
static void
store(size_t from, size_t length)
{
    journal_change(place, from, (const char *)stacks + from, length);
    journal_flush();
}

/* What the entries name is in the file before them, and the sequence is odd
 * while they change. */
void
journal_live_stacks_end(uint32_t nonce, uint32_t count, uint64_t start,
                        uint64_t ns)
{
    const size_t sequence = offsetof(struct record_stacks, sequence);
    const size_t time = offsetof(struct record_stacks, time);
    stacks->sequence |= 1;
    store(sequence, sizeof(stacks->sequence));
    stacks->time = journal_time(start);
    stacks->took = ns;
    stacks->nonce = nonce;
    stacks->count = count;
    store(time, sizeof(*stacks) + count * sizeof(struct stacks_entry) - time);
    stacks->sequence++;
    store(sequence, sizeof(stacks->sequence));
}
