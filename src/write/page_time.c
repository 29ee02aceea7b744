/* SPDX-License-Identifier: MIT */
/* page_time.c -- writes events column by column. Each column is a walk over all
 * threads, so only the tables need memory. */
#include "page_time.h"

/* The largest numbers of columns. The decoder needs them before the columns. */
struct maxima {
    uint64_t duration, cpu, wall, count;
};

/* A walk over the events of all threads, thread by thread. */
struct walk {
    const struct page_tables *tables;
    uint32_t thread;
    size_t next;   /* index of the next event of the thread */
    bool is_first; /* the last event is the first of its thread */
};

static const struct profile_event *
next_event(struct walk *walk)
{
    const struct page_tables *tables = walk->tables;
    for (; walk->thread < tables->profile->thread_count; walk->thread++) {
        const struct profile_event *event =
            timeline_at(tables->timeline, walk->thread, walk->next);
        walk->is_first = walk->next == 0;
        walk->next++;
        if (event != NULL)
            return event;
        walk->next = 0;
    }
    return NULL;
}

static void
raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

static void
write_maxima(struct page_stream *stream, const struct page_tables *tables)
{
    struct walk walk = {.tables = tables};
    struct maxima most = {0};
    for (const struct profile_event *event; (event = next_event(&walk));) {
        raise_to(&most.duration, event->duration);
        raise_to(&most.cpu, event->cpu);
        raise_to(&most.wall, event->wall);
        raise_to(&most.count, event->count);
    }
    page_stream_number(stream, most.duration);
    page_stream_number(stream, most.cpu);
    page_stream_number(stream, most.wall);
    page_stream_number(stream, most.count);
}

/* Write how many events each thread has. */
static void
write_counts(struct page_stream *stream, const struct page_tables *tables)
{
    const size_t *first = tables->timeline->first;
    for (uint32_t i = 0; i < tables->profile->thread_count; i++)
        page_stream_number(stream, first[i + 1] - first[i]);
}

/* Rows are numbered in the order of this walk. 0 is the next new row. */
static void
write_rows(struct page_stream *stream, const struct page_tables *tables)
{
    struct walk walk = {.tables = tables};
    uint32_t unused = 0;
    for (const struct profile_event *event; (event = next_event(&walk));) {
        uint32_t row = tables->row_of[event->sample];
        page_stream_number(stream, unused - row);
        unused += row == unused;
    }
}

/* The time at which EVENT ends. The end of a point is its time. */
static uint64_t
end_of(const struct profile *profile, const struct profile_event *event)
{
    uint64_t end = events_time(profile, event);
    sum_add(&end, event->duration);
    return end;
}

/* An event with a duration begins near the end of the event before. A point is
 * at the end of the time that it stands for. */
static void
write_starts(struct page_stream *stream, const struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    struct walk walk = {.tables = tables};
    uint64_t before = 0;
    for (const struct profile_event *event; (event = next_event(&walk));) {
        if (walk.is_first)
            before = 0;
        if (event->duration == 0)
            before += event->wall;
        page_stream_change(stream, events_time(profile, event), before);
        before = end_of(profile, event);
    }
}

static void
write_durations(struct page_stream *stream, const struct page_tables *tables)
{
    struct walk walk = {.tables = tables};
    for (const struct profile_event *event; (event = next_event(&walk));)
        page_stream_number(stream, event->duration);
}

static void
write_cpu(struct page_stream *stream, const struct page_tables *tables)
{
    struct walk walk = {.tables = tables};
    for (const struct profile_event *event; (event = next_event(&walk));)
        page_stream_number(stream, event->cpu);
}

/* Wall time is written less the duration or, of a point, less the CPU time. */
static void
write_wall(struct page_stream *stream, const struct page_tables *tables)
{
    struct walk walk = {.tables = tables};
    for (const struct profile_event *event; (event = next_event(&walk));)
        page_stream_change(stream, event->wall,
                           event->duration > 0 ? event->duration : event->cpu);
}

static void
write_points(struct page_stream *stream, const struct page_tables *tables)
{
    struct walk walk = {.tables = tables};
    for (const struct profile_event *event; (event = next_event(&walk));)
        page_stream_number(stream, event->count);
}

void
page_time_write(struct page_stream *stream, const struct page_tables *tables)
{
    page_stream_number(stream, tables->profile->event_count);
    write_maxima(stream, tables);
    write_counts(stream, tables);
    write_rows(stream, tables);
    write_durations(stream, tables);
    write_cpu(stream, tables);
    write_wall(stream, tables);
    write_starts(stream, tables);
    write_points(stream, tables);
}
