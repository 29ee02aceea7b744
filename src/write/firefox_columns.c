/* SPDX-License-Identifier: MIT */
/*
 * firefox_columns.c -- a table is written column by column. Each column is a
 * walk over the events of its thread, and nothing is kept. For a thread that
 * ran for 1 ms up to 2 ms after its process started, and then waited in read
 * for 5 ms, the table is
 *
 *   "samples": {"stack": [7, 9, 9], "time": [2, 2, 7],
 *               "weight": [1, 1, 4], "weightType": "tracing-ms",
 *               "threadCPUDelta": [1000000, 0, 0], "length": 3}
 *
 * The profiler draws a sample from halfway to the one before to halfway to the
 * next. So an event with a duration also has a sample at its end, which gets
 * all but the first sample point's part. Weights are wall time, and their sum
 * is that of the profile. Times of all processes begin with the first process.
 */
#include "firefox.h"

#define NO_STACK UINT32_MAX

/* One sample of a thread's table. */
struct point {
    uint64_t time, wall, cpu; /* ns */
    uint32_t stack;
};

/* A walk over the points of a thread. */
struct points {
    const struct firefox *firefox;
    uint32_t thread;
    size_t next;    /* event */
    bool has_begun; /* the first point was returned */
    bool has_end;   /* END comes next */
    struct point end;
};

static struct points
points_of(const struct firefox *firefox, uint32_t thread)
{
    return (struct points){.firefox = firefox, .thread = thread};
}

/* The part of VALUE for the first sample point; the others stand at the end. */
static uint64_t
first_part(const struct profile_event *event, uint64_t value)
{
    return value / (event->count > 2 ? event->count : 2);
}

/* Split an event with a duration. Its end is limited to the time of the next
 * event: times in a table do not go back. */
static void
split_event(struct points *points, const struct profile_event *event,
            struct point *point)
{
    const struct firefox *firefox = points->firefox;
    const struct profile_event *next =
        timeline_at(&firefox->timeline, points->thread, points->next);
    uint64_t limit =
        next != NULL ? events_time(firefox->profile, next) : UINT64_MAX;
    if (event->duration == 0)
        return;
    points->has_end = true;
    points->end = *point;
    sum_add(&points->end.time, event->duration);
    if (points->end.time > limit)
        points->end.time = limit;
    if (points->end.time < point->time)
        points->end.time = point->time;
    point->wall = first_part(event, point->wall);
    point->cpu = first_part(event, point->cpu);
    points->end.wall -= point->wall;
    points->end.cpu -= point->cpu;
}

/* The profiler takes CPU time from the second sample on. So the first sample
 * only says when the thread began. */
static bool
begin_points(struct points *points, struct point *point)
{
    const struct firefox *firefox = points->firefox;
    const struct profile *profile = firefox->profile;
    const struct profile_thread *thread = &profile->threads[points->thread];
    const struct profile_event *first =
        timeline_at(&firefox->timeline, points->thread, 0);
    points->has_begun = true;
    *point = (struct point){.time = thread->start, .stack = NO_STACK};
    sum_add(&point->time,
            profile->processes[thread->process].start - profile->start);
    return first != NULL && point->time < events_time(profile, first);
}

static bool
next_point(struct points *points, struct point *point)
{
    const struct firefox *firefox = points->firefox;
    if (!points->has_begun && begin_points(points, point))
        return true;
    if (points->has_end) {
        points->has_end = false;
        *point = points->end;
    } else {
        const struct profile_event *event =
            timeline_at(&firefox->timeline, points->thread, points->next);
        if (event == NULL)
            return false;
        points->next++;
        *point = (struct point){
            .time = events_time(firefox->profile, event),
            .wall = event->wall,
            .cpu = event->cpu,
            .stack = firefox->tables.sample_stack[event->sample],
        };
        split_event(points, event, point);
    }
    return true;
}

/* Writes one field of POINT. */
typedef void field(struct json *json, const struct point *point);

static void
write_stack(struct json *json, const struct point *point)
{
    if (point->stack == NO_STACK)
        json_null(json);
    else
        json_number(json, point->stack);
}

static void
write_time(struct json *json, const struct point *point)
{
    json_milliseconds(json, point->time);
}

static void
write_wall(struct json *json, const struct point *point)
{
    json_milliseconds(json, point->wall);
}

static void
write_cpu(struct json *json, const struct point *point)
{
    json_number(json, point->cpu);
}

/* Write column NAME of THREAD. Returns the number of points. */
static uint64_t
write_column(struct firefox *firefox, uint32_t thread, const char *name,
             field *write)
{
    struct points points = points_of(firefox, thread);
    struct point point;
    uint64_t count = 0;
    json_name_open(&firefox->json, name, '[');
    for (; next_point(&points, &point); count++)
        write(&firefox->json, &point);
    json_close(&firefox->json, ']');
    return count;
}

void
firefox_columns_write_samples(struct firefox *firefox, uint32_t thread)
{
    struct json *json = &firefox->json;
    json_name_open(json, "samples", '{');
    write_column(firefox, thread, "stack", write_stack);
    write_column(firefox, thread, "time", write_time);
    write_column(firefox, thread, "weight", write_wall);
    json_name_string(json, "weightType", "tracing-ms");
    uint64_t count = write_column(firefox, thread, "threadCPUDelta", write_cpu);
    json_name_number(json, "length", count);
    json_close(json, '}');
}
