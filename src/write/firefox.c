/* SPDX-License-Identifier: MIT */
/*
 * firefox.c -- JSON as the Firefox Profiler's src/types/profile.ts describes it
 * for version 61 of its format. Later versions of the profiler upgrade it when
 * they load it. In the order in which it is written:
 *
 *   {"meta":    {"interval": 1, "startTime": ..., "categories": [...], ...},
 *    "libs":    [{"name": "libc.so.6", "breakpadId": ..., "codeId": ...}],
 *    "shared":  {"stackTable": ..., "frameTable": ..., "stringArray": ...},
 *    "threads": [{"name": "worker", "samples": ..., "markers": ...}]}
 *
 * meta and libs describe the profile. shared has the places of the program
 * (firefox_tables.c), threads the times (their samples here,
 * firefox_markers.c).
 *
 * A table is written column by column. Each column is a walk over the events of
 * its thread, without memory of its own. For a thread that ran for 1 ms up to 2
 * ms after its process started, and then waited in read for 5 ms, the table is
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
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/quality.h"
#include "model/sample_state.h"
#include "model/spending.h"
#include "util/array.h"
#include "output_file.h"
#include "firefox.h"

/* Versions of the format that is written, and of the format that Firefox itself
 * uses, which must be given, too. */
enum { PROCESSED_VERSION = 61, GECKO_VERSION = 34 };

/* Write the sentences about quality that every output has. */
static void
write_extra(struct firefox *firefox)
{
    static const struct {
        const char *label;
        char *(*phrase)(const struct profile *, char *, size_t);
    } entries[] = {
        {"Lost samples", quality_losses}, {"Cut stacks", quality_cuts},
        {"Epochs", spending_rates},       {"Spent", spending_cost},
        {"Cost", quality_cost},           {"Unseen", quality_unseen},
        {"Note", quality_asked},          {"Times", quality_times},
        {"Wrong", quality_sums},
    };
    struct json *json = &firefox->json;
    char text[512];
    json_name_open(json, "extra", '[');
    json_open(json, '{');
    json_name_string(json, "label", "libsprof");
    json_name_open(json, "entries", '[');
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        entries[i].phrase(firefox->profile, text, sizeof(text));
        if (text[0] == '\0')
            continue;
        json_open(json, '{');
        json_name_string(json, "label", entries[i].label);
        json_name_string(json, "format", "string");
        json_name_string(json, "value", text);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, ']');
}

/* Write the part that the profiler shows above all others. */
static void
write_product(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    char text[512];
    snprintf(text, sizeof(text), "%.400s%s",
             profile->process_count > 0 ? path_name(profile->processes[0].exe)
                                        : "",
             profile->has_no_times ? " (untimed: the time axis is invented)"
                                   : "");
    json_name_string(&firefox->json, "product", text);
}

/* The interval is the period of the first process, or 1 ms if it is unknown.
 * Times of threads count from startTime. */
static void
write_meta(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    const struct profile_process *process = profile->processes;
    bool is_any = profile->process_count > 0;
    char system[32];
    struct json *json = &firefox->json;
    json_name_open(json, "meta", '{');
    json_name_milliseconds(json, "interval",
                           is_any && process->period > 0 ? process->period
                                                         : 1000000);
    json_name_milliseconds(json, "startTime", profile->start);
    json_name_number(json, "profilingStartTime", 0);
    json_name_milliseconds(json, "profilingEndTime", profile->duration);
    json_name_number(json, "processType", 0);
    json_name_number(json, "stackwalk", 1);
    json_name_bool(json, "debug", false);
    json_name_number(json, "version", GECKO_VERSION);
    json_name_number(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    write_product(firefox);
    json_name_string(json, "arguments", is_any ? process->command : "");
    json_name_string(json, "importedFrom", "libsprof " SPROF_VERSION);
    json_name_string(json, "platform", "X11");
    snprintf(system, sizeof(system), "Linux %s",
             firefox_tables_machine(is_any ? process->machine : 0));
    json_name_string(json, "oscpu", system);
    json_name_bool(json, "symbolicated", true);
    json_name_bool(json, "usesOnlyOneStackType", true);
    json_name_bool(json, "sourceCodeIsNotOnSearchfox", true);
    json_name_raw(json, "sampleUnits",
                  "{\"time\":\"ms\",\"eventDelay\":\"ms\","
                  "\"threadCPUDelta\":\"ns\"}");
    json_name_raw(json, "markerSchema", firefox_markers_schema);
    firefox_tables_write_categories(&firefox->tables, json);
    write_extra(firefox);
    json_close(json, '}');
}

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

/* The part of VALUE for the first sample point; the other points are at the
 * end. */
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

/* The columns of "samples". */
enum column { STACK, TIME, WEIGHT, CPU_DELTA };

static void
write_cell(struct json *json, const struct point *point, enum column column)
{
    if (column == TIME || column == WEIGHT)
        json_milliseconds(json, column == TIME ? point->time : point->wall);
    else if (column == CPU_DELTA)
        json_number(json, point->cpu);
    else if (point->stack != NO_STACK)
        json_number(json, point->stack);
    else
        json_null(json);
}

/* Write column NAME of THREAD. Returns the number of points. */
static uint64_t
write_column(struct firefox *firefox, uint32_t thread, const char *name,
             enum column column)
{
    struct points points = {.firefox = firefox, .thread = thread};
    struct point point;
    uint64_t count = 0;
    json_name_open(&firefox->json, name, '[');
    for (; next_point(&points, &point); count++)
        write_cell(&firefox->json, &point, column);
    json_close(&firefox->json, ']');
    return count;
}

static void
write_samples(struct firefox *firefox, uint32_t thread)
{
    struct json *json = &firefox->json;
    json_name_open(json, "samples", '{');
    write_column(firefox, thread, "stack", STACK);
    write_column(firefox, thread, "time", TIME);
    write_column(firefox, thread, "weight", WEIGHT);
    json_name_string(json, "weightType", "tracing-ms");
    uint64_t count = write_column(firefox, thread, "threadCPUDelta", CPU_DELTA);
    json_name_number(json, "length", count);
    json_close(json, '}');
}

/* Pids are strings that distinguish processes. A process gets a number after
 * its pid if an earlier one has the same pid: it called exec, or took the pid
 * of one that ended. */
static void
write_pid(struct firefox *firefox, uint32_t number)
{
    const struct profile *profile = firefox->profile;
    uint32_t pid = profile->processes[number].pid;
    unsigned same = 0;
    for (uint32_t i = 0; i < number; i++)
        same += profile->processes[i].pid == pid;
    char text[32];
    if (same == 0)
        snprintf(text, sizeof(text), "%u", pid);
    else
        snprintf(text, sizeof(text), "%u.%u", pid, same);
    json_name_string(&firefox->json, "pid", text);
}

/* Write TIME of the process of THREAD, relative to the start of the first
 * process. */
static void
write_own_time(struct firefox *firefox, const char *name,
               const struct profile_thread *thread, uint64_t time)
{
    const struct profile *profile = firefox->profile;
    sum_add(&time, profile->processes[thread->process].start);
    json_name_milliseconds(&firefox->json, name, time - profile->start);
}

/* A thread that lived as long as its process has no end of its own: null. */
static void
write_life(struct firefox *firefox, const struct profile_thread *thread)
{
    const struct profile_process *process =
        &firefox->profile->processes[thread->process];
    struct json *json = &firefox->json;
    write_own_time(firefox, "processStartupTime", thread, 0);
    if (process->ended)
        write_own_time(firefox, "processShutdownTime", thread,
                       process->duration);
    else
        json_name_raw(json, "processShutdownTime", "null");
    write_own_time(firefox, "registerTime", thread, thread->start);
    if (thread->end < process->duration)
        write_own_time(firefox, "unregisterTime", thread, thread->end);
    else
        json_name_raw(json, "unregisterTime", "null");
}

static int
write_thread(struct firefox *firefox, uint32_t number)
{
    const struct profile *profile = firefox->profile;
    const struct profile_thread *thread = &profile->threads[number];
    struct json *json = &firefox->json;
    json_open(json, '{');
    json_name_string(json, "processType", "default");
    json_name_string(json, "processName",
                     path_name(profile->processes[thread->process].exe));
    write_pid(firefox, thread->process);
    json_name_number(json, "tid", thread->tid);
    json_name_string(json, "name",
                     thread->name[0] != '\0' ? thread->name : "thread");
    json_name_bool(json, "isMainThread", firefox->is_main[number]);
    write_life(firefox, thread);
    json_name_raw(json, "pausedRanges", "[]");
    json_name_bool(json, "showMarkersInTimeline", true);
    write_samples(firefox, number);
    int status = firefox_markers_write(firefox, number);
    json_close(json, '}');
    return status;
}

/* A thread without samples would be an empty track, so it is left out. */
static int
write_threads(struct firefox *firefox)
{
    int status = 0;
    json_name_open(&firefox->json, "threads", '[');
    for (uint32_t i = 0; i < firefox->profile->thread_count; i++)
        if (firefox->is_main[i] ||
            firefox->mark_first[i] < firefox->mark_first[i + 1] ||
            timeline_at(&firefox->timeline, i, 0) != NULL)
            status |= write_thread(firefox, i);
    json_close(&firefox->json, ']');
    return status;
}

/* A process is shown by the thread with its pid, else by its first thread. */
static void
find_main_threads(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    uint32_t first = 0, best = 0;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        uint32_t pid = profile->processes[thread->process].pid;
        if (thread->process != profile->threads[first].process)
            first = best = i;
        if (thread->tid == pid && profile->threads[best].tid != pid)
            best = i;
        firefox->is_main[first] = false;
        firefox->is_main[i] = false;
        firefox->is_main[best] = true;
    }
}

/* Add all strings that the columns refer to: the string table is written before
 * them. */
static int
prepare_strings(struct firefox *firefox)
{
    struct profile *profile = firefox->profile;
    if (!ARRAY_NEW(firefox->names, profile->sample_count) ||
        !ARRAY_NEW(firefox->objects, profile->sample_count) ||
        !ARRAY_NEW(firefox->is_main, profile->thread_count))
        return -1;
    find_main_threads(firefox);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        if (sample->state == STATE_RUNNING)
            continue;
        firefox->names[i] =
            firefox_tables_string(&firefox->tables,
                                  sample_state_name(profile, sample));
        firefox->objects[i] =
            firefox_tables_string(&firefox->tables, sample->waits_on);
    }
    firefox->start_text =
        firefox_tables_string(&firefox->tables, "process started");
    firefox->end_text =
        firefox_tables_string(&firefox->tables, "process ended");
    firefox->lost_text =
        firefox_tables_string(&firefox->tables, "samples lost");
    return firefox_markers_prepare(firefox);
}

/* The strings must be complete before "shared" is written, though threads refer
 * to them later. prepare_strings has added them. */
static int
write_all(struct firefox *firefox, FILE *stream)
{
    struct json *json = &firefox->json;
    json_begin(json, stream);
    json_open(json, '{');
    write_meta(firefox);
    firefox_tables_write_libraries(&firefox->tables, json);
    firefox_tables_write(&firefox->tables, json);
    int status = write_threads(firefox);
    json_close(json, '}');
    if (json_end(json) != 0)
        return -1;
    if (status != 0)
        errno = ENOMEM;
    return status;
}

int
firefox_write(FILE *stream, struct profile *profile)
{
    struct firefox firefox = {.profile = profile};
    int status = -1;
    if (timeline_build(&firefox.timeline, profile) != 0)
        return -1;
    if (firefox_tables_build(&firefox.tables, profile) == 0 &&
        prepare_strings(&firefox) == 0)
        status = write_all(&firefox, stream);
    int error = errno;
    firefox_tables_release(&firefox.tables);
    timeline_release(&firefox.timeline);
    free(firefox.names);
    free(firefox.objects);
    free(firefox.is_main);
    firefox_markers_release(&firefox);
    errno = error;
    return status;
}
