/* SPDX-License-Identifier: MIT */
/*
 * marks.c -- see marks.h. The sampler reads the marks at every tick. When many
 * marks wait, the thread that adds one rings the bell.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/text.h"
#include "base/thread_local.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "journal/journal.h"
#include "journal/journal_labels.h"
#include "labels/labels.h"
#include "labels/mark_ring.h"
#include "process/threads.h"
#include "alarms.h"
#include "harvest.h"
#include "sprof.h"
#include "marks.h"

_Static_assert(MARK_RING_NAME == SPROF_MARK_NAME_MAX + 1, "as the manual says");

/* Marks that are written before parked threads are served. */
#define SERVE_EVERY 128u

static OF_PROFILE _Atomic bool is_open;

void
marks_accept(bool is_now_open)
{
    atomic_store(&is_open, is_now_open);
}

bool
marks_are_open(void)
{
    return atomic_load_explicit(&is_open, memory_order_relaxed);
}

static int
check_name(const char *name, size_t length)
{
    if (length == 0)
        return SPROF_ERROR_INVALID;
    if (length > SPROF_MARK_NAME_MAX)
        return SPROF_ERROR_TOO_LONG;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return SPROF_ERROR_INVALID;
    return 0;
}

int
marks_put(enum mark_kind kind, const char *name, uint64_t time,
          uint64_t duration)
{
    size_t length = name != NULL ? strnlen(name, SPROF_MARK_NAME_MAX + 1) : 0;
    int error = check_name(name, length);
    if (error != 0)
        return error;
    if (!marks_are_open())
        return SPROF_ERROR_NOT_RUNNING;
    /* Not initialized: that would fill the name, which is not used, with zeros.
     */
    struct mark mark;
    mark.kind = kind;
    mark.tid = thread_local_tid();
    mark.time = time;
    mark.duration = duration;
    mark.label = labels_of(mark.tid);
    uint32_t waiting = mark_ring_put(&mark, name, length);
    if (waiting == MARK_RING_PLACES / 2)
        ask_ring();
    return waiting != 0 ? 0 : SPROF_ERROR_FULL;
}

/* Write a mark of thread INDEX, or of the process. A mark that began before the
 * profile is written as one that begins with it. */
static void
write_mark(const struct mark *mark, uint32_t index)
{
    struct record_mark record = {.mark = mark->kind,
                                 .time = journal_time(mark->time),
                                 .label = journal_labels(mark->label),
                                 .text_length =
                                     (uint16_t)(strlen(mark->name) + 1)};
    const struct writer_tail tail = {mark->name, record.text_length};
    uint64_t end = journal_time(mark->time + mark->duration);
    record.duration = end - record.time;
    if (index != THREADS_NONE)
        record.thread = journal_thread(index);
    journal_append(RECORD_MARK, &record, sizeof(record), &tail, 1);
}

/* Write a mark that says how many marks were lost because there was no room. */
static void
write_lost(uint64_t now, uint32_t lost)
{
    struct mark mark = {.kind = MARK_USER, .time = now};
    struct text text;
    text_begin(&text, mark.name, sizeof(mark.name));
    text_add_number(&text, lost);
    text_add(&text, " marks lost: they came faster than they could be written");
    write_mark(&mark, THREADS_NONE);
}

void
marks_write(void)
{
    struct mark mark;
    /* Read no more marks than there are places: new ones may come as fast as
     * they are read. */
    for (uint32_t i = 1; i <= MARK_RING_PLACES && mark_ring_take(&mark); i++) {
        write_mark(&mark, harvest_find_thread(mark.tid, mark.time, CLOCK_NONE));
        if (mark.kind == MARK_SPAN)
            alarms_see_span(mark.name, mark.duration);
        /* A thread that parks now must not wait for thousands of marks.
         */
        if (i % SERVE_EVERY == 0)
            serve_parked();
    }
    uint32_t lost = mark_ring_take_lost();
    if (lost != 0)
        write_lost(clock_now(), lost);
}
