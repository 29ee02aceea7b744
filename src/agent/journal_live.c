/* SPDX-License-Identifier: MIT */
/*
 * journal_live.c -- see journal_live.h. The stacks of all threads have one
 * place in the file, which is written again and again, so that a process that
 * is asked every second does not fill the disk. A larger place is taken when
 * there are more threads; it doubles, so that what is left behind is no more
 * than what is in use.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "journal.h"
#include "journal_live.h"

#define CAPACITY_LEAST 64u

static struct record_stacks *stacks; /* NULL: none yet */

void
journal_live_begin(void)
{
    stacks = NULL;
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
}

/* A place for CAPACITY entries, all zeros. */
static struct record_stacks *
make_place(uint32_t capacity)
{
    struct record_stacks record = {.capacity = CAPACITY_LEAST};
    while (record.capacity < capacity)
        record.capacity *= 2;
    size_t size = record.capacity * sizeof(struct stacks_entry);
    void *zeros = sys_reserve(size);
    if (zeros == NULL)
        return NULL;
    const struct writer_tail tail = {zeros, size};
    struct record_stacks *made =
        journal_append(RECORD_STACKS, &record, sizeof(record), &tail, 1);
    sys_release(zeros, size);
    return made;
}

struct stacks_entry *
journal_live_stacks_begin(uint32_t capacity)
{
    if (stacks == NULL || stacks->capacity < capacity) {
        struct record_stacks *larger = make_place(capacity);
        if (larger == NULL)
            return NULL;
        stacks = larger;
    }
    writer_store(&stacks->sequence, stacks->sequence | 1);
    atomic_thread_fence(memory_order_seq_cst);
    return (struct stacks_entry *)(stacks + 1);
}

void
journal_live_stacks_end(uint32_t nonce, uint32_t count, uint64_t start,
                        uint64_t ns)
{
    stacks->time = journal_time(start);
    stacks->took = ns;
    stacks->nonce = nonce;
    stacks->count = count;
    atomic_thread_fence(memory_order_seq_cst);
    writer_store(&stacks->sequence, stacks->sequence + 1);
}
