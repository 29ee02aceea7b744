/* SPDX-License-Identifier: MIT */
/*
 * tally.c -- see tally.h. layout.h says which records change in place. A wait
 * may be opened again until its thread has another sample, so it is read again
 * until then. The count of each record is remembered, and only the difference
 * is added. A difference may be negative, because a wait that was believed to
 * go on may have ended; then the counters wait until they are reached again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "tally.h"

/* THREADS_MOST: the largest id of a thread that is believed. A damaged spool
 * may have any. WORDS_MOST: limit of the words of a COUNTS record. */
enum { THREADS_MOST = 1 << 22, WORDS_MOST = 512 };

/* A sample that may change in place. */
struct tally_record {
    uint64_t place, wall; /* WALL: ns that were counted for it */
    uint32_t thread;
    uint8_t state;
    bool is_for_ever; /* it is read again as long as its process lives */
};

struct tally_thread {
    uint64_t place; /* of its latest sample */
    uint64_t end;   /* ns since the start of the process; 0: it lives */
};

/* The thread ID, made if need be; NULL if that is impossible. */
static struct tally_thread *
thread_at(struct tally *tally, uint32_t id)
{
    if (id >= THREADS_MOST)
        return NULL;
    while (tally->thread_count <= id) {
        if (!ARRAY_GROW(tally->threads, tally->thread_count))
            return NULL;
        tally->threads[tally->thread_count++] = (struct tally_thread){0};
    }
    return &tally->threads[id];
}

/* The wall time of RECORD by now: a wait that is not over reaches to the last
 * tick, or to the end of its thread. */
static uint64_t
wall_of(const struct tally *tally, const struct record_sample *record,
        const struct tally_thread *thread)
{
    uint64_t reached = record->time + record->duration;
    uint64_t limit = tally->last_tick;
    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return record->wall;
    if (thread->end != 0 && thread->end < limit)
        limit = thread->end;
    return record->wall + (limit > reached ? limit - reached : 0);
}

static bool
is_unsampled(const struct record_sample *record)
{
    return record->trigger == TRIGGER_NONE && record->node == 0 &&
           record->count == 0;
}

/* Take a new sample at PLACE. Returns 0, or -1 if memory is short. */
static int
take_sample(struct tally *tally, const struct record_sample *record,
            uint64_t place)
{
    struct tally_thread *thread = thread_at(tally, record->thread);
    if (record->state >= STATE_COUNT || record->thread >= THREADS_MOST)
        return 0;
    if (thread == NULL || !ARRAY_GROW(tally->records, tally->record_count))
        return -1;
    bool is_final = record->state == STATE_RUNNING && !is_unsampled(record);
    if (is_final)
        tally->now.wall[record->state] += record->wall;
    else
        tally->records[tally->record_count++] =
            (struct tally_record){.place = place,
                                  .thread = record->thread,
                                  .state = record->state,
                                  .is_for_ever = is_unsampled(record)};
    thread->place = place;
    thread->end = 0;
    return 0;
}

/* Take one record. Returns 0, or -1 if memory is short. */
static int
take_record(struct tally *tally, const struct reader *reader,
            enum record_kind kind, const void *record)
{
    if (kind == RECORD_SAMPLE)
        return take_sample(tally, record, reader_place(reader));
    if (kind == RECORD_COUNTS)
        tally->counts_place = reader_place(reader);
    if (kind == RECORD_THREAD_END) {
        const struct record_thread_end *end = record;
        struct tally_thread *thread = thread_at(tally, end->id);
        if (thread != NULL)
            thread->end = end->time;
    }
    return 0;
}

/* Read the counters of the process, which change all the time. */
static void
read_counts(struct tally *tally, const struct reader *reader)
{
    uint64_t words[WORDS_MOST];
    if (tally->counts_place == 0 ||
        reader_again(reader, tally->counts_place, words, sizeof(words)) != 0 ||
        record_size_of(words[0]) > sizeof(words) || !record_is_valid(words))
        return;
    const struct record_counts *counts = (const void *)words;
    struct tally_sums *now = &tally->now;
    now->taken = counts->taken;
    now->asked = counts->asked;
    now->peeked = counts->peeked;
    now->process_cpu = counts->process_cpu;
    now->sampler_cpu = counts->sampler_cpu;
    now->stopped = counts->stopped;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        now->lost[i] = record_lost(counts, i);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        now->cut[i] = record_cut(counts, i);
    tally->last_tick = counts->time;
}

/* Read RECORD again and count what changed. The process stores the flags last,
 * so they are taken from an earlier copy than the rest. Returns whether it may
 * change once more. */
static bool
read_again(struct tally *tally, const struct reader *reader,
           struct tally_record *record)
{
    struct record_sample before, now;
    const struct tally_thread *thread = &tally->threads[record->thread];
    if (reader_again(reader, record->place, &before, sizeof(before)) != 0 ||
        reader_again(reader, record->place, &now, sizeof(now)) != 0)
        return false;
    now.flags = before.flags;
    uint64_t wall = wall_of(tally, &now, thread);
    tally->now.wall[record->state] += wall - record->wall;
    record->wall = wall;
    return (now.flags & SAMPLE_OPEN) != 0 || record->is_for_ever ||
           (thread->place == record->place && thread->end == 0);
}

static void
read_all_again(struct tally *tally, const struct reader *reader)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tally->record_count; i++) {
        struct tally_record record = tally->records[i];
        if (read_again(tally, reader, &record))
            tally->records[kept++] = record;
    }
    tally->record_count = kept;
}

/* Let *TO become FROM + MORE, but no less than it was. */
static void
raise(uint64_t *to, uint64_t from, uint64_t more)
{
    if (from + more > *to)
        *to = from + more;
}

/* The sums are numbers of one type and nothing else. */
static void
add_up(struct tally *tally)
{
    enum { SUMS = sizeof(struct tally_sums) / sizeof(uint64_t) };
    uint64_t *sums = (uint64_t *)&tally->sums;
    const uint64_t *before = (const uint64_t *)&tally->before;
    const uint64_t *now = (const uint64_t *)&tally->now;
    for (unsigned i = 0; i < SUMS; i++)
        raise(&sums[i], before[i], now[i]);
}

int
tally_look(struct tally *tally, const char *path, char *error, size_t size)
{
    struct reader *reader = reader_open(path, error, size);
    const void *record;
    enum record_kind kind;
    int status = 0;
    if (reader == NULL)
        return -1;
    if (tally->offset != 0)
        reader_go(reader, tally->offset);
    while (status == 0 && (record = reader_next(reader, &kind)) != NULL)
        status = take_record(tally, reader, kind, record);
    if (status != 0)
        snprintf(error, size, "%s", strerror(ENOMEM));
    tally->offset = reader_offset(reader);
    read_counts(tally, reader);
    read_all_again(tally, reader);
    reader_end(reader);
    add_up(tally);
    return status;
}

void
tally_change_spool(struct tally *tally)
{
    struct tally_sums sums = tally->sums;
    tally_release(tally);
    *tally = (struct tally){.sums = sums, .before = sums};
}

void
tally_release(struct tally *tally)
{
    free(tally->records);
    free(tally->threads);
    *tally = (struct tally){.offset = 0};
}
