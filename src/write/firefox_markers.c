/* SPDX-License-Identifier: MIT */
/*
 * firefox_markers.c -- writes a table column by column, like firefox.c.
 * A thread waited in read for 5 ms, 2 ms after the start. It had the label
 * request=/cart in all samples from 1 ms to 8 ms. Its table is
 *
 *   "markers": {"name": [3, 5], "startTime": [2, 1], "endTime": [7, 8],
 *               "phase": [1, 1],
 *               "data": [{"type": "Wait", "on": 4, "cause": {"stack": 9}},
 *                        {"type": "Label", "value": 6}], ...}
 *
 * Labels are known only at samples. So a marker begins up to a period late and
 * ends up to a period early. Changes in between are not shown.
 */
#include <stdlib.h>
#include <string.h>

#include "model/label_sets.h"
#include "model/quality.h"
#include "util/array.h"
#include "firefox.h"

/* Duration up to which a wait has no marker, in ns. */
#define WAIT_LEAST 1000000u

/* The phases of markers. */
#define INSTANT "0"
#define INTERVAL "1"

const char firefox_markers_schema[] =
    "[{\"name\":\"Wait\","
    "\"tooltipLabel\":\"{marker.name}\","
    "\"tableLabel\":\"{marker.name} {marker.data.on}\","
    "\"chartLabel\":\"{marker.name} {marker.data.on}\","
    "\"display\":[\"marker-chart\",\"marker-table\"],"
    "\"description\":\"A thread waited for more than a millisecond\","
    "\"fields\":[{\"key\":\"on\",\"label\":\"Waits on\","
    "\"format\":\"unique-string\"}]},"
    "{\"name\":\"Label\","
    "\"tooltipLabel\":\"{marker.name}={marker.data.value}\","
    "\"tableLabel\":\"{marker.name}={marker.data.value}\","
    "\"chartLabel\":\"{marker.data.value}\","
    "\"display\":[\"marker-chart\",\"marker-table\"],"
    "\"description\":\"All samples in this time have this label\","
    "\"fields\":[{\"key\":\"value\",\"label\":\"Value\","
    "\"format\":\"unique-string\"}]},"
    "{\"name\":\"Mark\","
    "\"tooltipLabel\":\"{marker.name}\","
    "\"tableLabel\":\"{marker.name}\","
    "\"chartLabel\":\"{marker.name}\","
    "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"description\":\"The program set this mark\","
    "\"fields\":[{\"key\":\"labels\",\"label\":\"Labels\","
    "\"format\":\"string\"}]},"
    "{\"name\":\"Note\","
    "\"tooltipLabel\":\"{marker.name}\","
    "\"tableLabel\":\"{marker.data.text}\","
    "\"chartLabel\":\"{marker.name}\","
    "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"description\":\"About the process and its profile\","
    "\"fields\":[{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"}]}"
    "]";

enum marker_kind { MARKER_WAIT, MARKER_LABEL, MARKER_MARK, MARKER_NOTE };

/* One marker of a thread. A wait has OBJECT and STACK; a label has its value in
 * OBJECT; the others have TEXT. */
struct marker {
    uint64_t start, end; /* ns */
    uint32_t name, object, stack;
    enum firefox_category category;
    enum marker_kind kind;
    bool is_interval;
    const char *text;
};

/* A label that consecutive samples have. */
struct run {
    uint64_t start, end; /* ns */
    uint32_t label;      /* of profile->labels */
};

/* The runs of a thread; OPEN has the indices of those that may go on. */
struct runs {
    struct run *all;
    size_t count;
    size_t open[LABEL_SETS_DEPTH];
    unsigned open_count;
};

/* A walk over the markers of a thread: its waits, labels and marks. The notes
 * about the process follow if it is the main thread. */
struct markers {
    const struct firefox *firefox;
    const struct runs *runs;
    uint32_t thread;
    size_t next; /* event */
    size_t run, mark;
    unsigned step;
    char text[1024];
};

static bool
is_same(const struct profile_label *one, const struct profile_label *two)
{
    return one->key == two->key && one->value == two->value;
}

/* Whether SET has label NUMBER of profile->labels. */
static bool
has_label(const struct profile *profile, uint32_t set, uint32_t number)
{
    for (; set != 0; set = profile->labels[set - 1].parent)
        if (is_same(&profile->labels[set - 1], &profile->labels[number]))
            return true;
    return false;
}

static bool
is_open(const struct profile *profile, const struct runs *runs, uint32_t label)
{
    for (unsigned i = 0; i < runs->open_count; i++)
        if (is_same(&profile->labels[runs->all[runs->open[i]].label],
                    &profile->labels[label]))
            return true;
    return false;
}

/* Extend the runs of labels that are in SET, from START to END. Close the
 * others, and open runs for new labels. Returns 0, or -1 if memory is short. */
static int
add_to_runs(const struct profile *profile, struct runs *runs, uint32_t set,
            uint64_t start, uint64_t end)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < runs->open_count; i++) {
        struct run *run = &runs->all[runs->open[i]];
        if (!has_label(profile, set, run->label))
            continue;
        run->end = end > run->end ? end : run->end;
        runs->open[kept++] = runs->open[i];
    }
    runs->open_count = kept;
    for (; set != 0; set = profile->labels[set - 1].parent) {
        if (is_open(profile, runs, set - 1) ||
            runs->open_count == LABEL_SETS_DEPTH)
            continue;
        if (!ARRAY_GROW(runs->all, runs->count))
            return -1;
        runs->all[runs->count] = (struct run){start, end, set - 1};
        runs->open[runs->open_count++] = runs->count++;
    }
    return 0;
}

/* Whether the time of EVENT is known. Time in which a thread waited for a CPU,
 * and time without a sample, are recorded some time later. */
static bool
is_timed(const struct profile *profile, const struct profile_event *event)
{
    const struct profile_sample *sample = &profile->samples[event->sample];
    return sample->state != STATE_RUNQUEUE &&
           sample->node > PROFILE_NOT_SAMPLED;
}

static int
find_runs(const struct firefox *firefox, uint32_t thread, struct runs *runs)
{
    const struct profile *profile = firefox->profile;
    const struct profile_event *event;
    for (size_t i = 0;
         profile->label_count > 0 &&
         (event = timeline_at(&firefox->timeline, thread, i)) != NULL;
         i++) {
        uint64_t start = events_time(profile, event), end = start;
        sum_add(&end, event->duration);
        if (is_timed(profile, event) &&
            add_to_runs(profile, runs, profile->samples[event->sample].labels,
                        start, end) != 0)
            return -1;
    }
    return 0;
}

static bool
next_wait(struct markers *markers, struct marker *marker)
{
    const struct firefox *firefox = markers->firefox;
    const struct profile_event *event;
    while ((event = timeline_at(&firefox->timeline, markers->thread,
                                markers->next)) != NULL) {
        uint32_t number = event->sample;
        uint16_t state = firefox->profile->samples[number].state;
        markers->next++;
        if (state == STATE_RUNNING || event->duration <= WAIT_LEAST)
            continue;
        *marker = (struct marker){
            .start = events_time(firefox->profile, event),
            .name = firefox->names[number],
            .object = firefox->objects[number],
            .stack = firefox->tables.sample_stack[number],
            .category =
                state == STATE_WAITING ? FIREFOX_WAITING : FIREFOX_RUNNABLE,
            .kind = MARKER_WAIT,
            .is_interval = true,
        };
        marker->end = marker->start + event->duration;
        return true;
    }
    return false;
}

static bool
next_label(struct markers *markers, struct marker *marker)
{
    const struct firefox *firefox = markers->firefox;
    const struct run *run;
    if (markers->run == markers->runs->count)
        return false;
    run = &markers->runs->all[markers->run++];
    *marker = (struct marker){.start = run->start,
                              .end = run->end,
                              .name = firefox->label_keys[run->label],
                              .object = firefox->label_values[run->label],
                              .kind = MARKER_LABEL,
                              .is_interval = true};
    return true;
}

static bool
next_mark(struct markers *markers, struct marker *marker)
{
    const struct firefox *firefox = markers->firefox;
    const struct profile *profile = firefox->profile;
    size_t at = firefox->mark_first[markers->thread] + markers->mark;
    if (at >= firefox->mark_first[markers->thread + 1])
        return false;
    markers->mark++;
    const struct profile_mark *mark =
        &profile->timed_marks[firefox->mark_order[at]];
    *marker =
        (struct marker){.start = profile_mark_time(profile, mark),
                        .name = firefox->mark_names[firefox->mark_order[at]],
                        .kind = MARKER_MARK,
                        .is_interval = mark->kind == MARK_SPAN,
                        .text = label_sets_text(profile, mark->labels,
                                                markers->text,
                                                sizeof(markers->text))};
    marker->end = marker->start + mark->duration;
    return true;
}

/* When the process began and ended, and, for the first process, the losses of
 * all. */
static bool
next_note(struct markers *markers, struct marker *marker)
{
    const struct firefox *firefox = markers->firefox;
    const struct profile *profile = firefox->profile;
    uint32_t number = profile->threads[markers->thread].process;
    const struct profile_process *process = &profile->processes[number];
    uint64_t start = process->start - profile->start;
    *marker = (struct marker){.start = start, .kind = MARKER_NOTE};
    switch (markers->step++) {
    case 0:
        marker->name = firefox->start_text;
        marker->text = process->command;
        return true;
    case 1:
        marker->start += process->duration;
        marker->name = firefox->end_text;
        marker->text = process->ended ? "seen" : "killed, or still running";
        return true;
    case 2:
        marker->start += process->duration;
        marker->name = firefox->lost_text;
        marker->text =
            quality_losses(profile, markers->text, sizeof(markers->text));
        return number == 0;
    default:
        return false;
    }
}

static bool
next_marker(struct markers *markers, struct marker *marker)
{
    if (next_wait(markers, marker) || next_label(markers, marker) ||
        next_mark(markers, marker))
        return true;
    if (!markers->firefox->is_main[markers->thread])
        return false;
    return next_note(markers, marker);
}

static void
write_data(struct json *json, const struct marker *marker)
{
    static const char *const types[] = {
        [MARKER_WAIT] = "Wait",
        [MARKER_LABEL] = "Label",
        [MARKER_MARK] = "Mark",
        [MARKER_NOTE] = "Note",
    };
    json_open(json, '{');
    json_name_string(json, "type", types[marker->kind]);
    if (marker->kind == MARKER_NOTE)
        json_name_string(json, "text", marker->text);
    else if (marker->kind == MARKER_LABEL)
        json_name_number(json, "value", marker->object);
    else if (marker->kind == MARKER_MARK && marker->text[0] != '\0')
        json_name_string(json, "labels", marker->text);
    if (marker->kind == MARKER_WAIT) {
        if (marker->object != 0)
            json_name_number(json, "on", marker->object);
        json_name_open(json, "cause", '{');
        json_name_number(json, "stack", marker->stack);
        json_close(json, '}');
    }
    json_close(json, '}');
}

/* The columns of "markers". */
enum column { DATA, NAME, START, END, PHASE, CATEGORY, COLUMNS };

static void
write_cell(struct json *json, const struct marker *marker, enum column column)
{
    switch (column) {
    case DATA:
        write_data(json, marker);
        break;
    case NAME:
        json_number(json, marker->name);
        break;
    case START:
        json_milliseconds(json, marker->start);
        break;
    case END:
        if (marker->is_interval)
            json_milliseconds(json, marker->end);
        else
            json_null(json);
        break;
    case PHASE:
        json_raw(json, marker->is_interval ? INTERVAL : INSTANT);
        break;
    default:
        json_number(json, marker->category);
    }
}

int
firefox_markers_write(struct firefox *firefox, uint32_t thread)
{
    static const char *const names[COLUMNS] = {"data",    "name",  "startTime",
                                               "endTime", "phase", "category"};
    struct json *json = &firefox->json;
    struct runs runs = {0};
    uint64_t count = 0;
    int status = find_runs(firefox, thread, &runs);
    json_name_open(json, "markers", '{');
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct markers markers = {.firefox = firefox,
                                  .runs = &runs,
                                  .thread = thread};
        struct marker marker;
        json_name_open(json, names[i], '[');
        for (count = 0; next_marker(&markers, &marker); count++)
            write_cell(json, &marker, i);
        json_close(json, ']');
    }
    json_name_number(json, "length", count);
    json_close(json, '}');
    free(runs.all);
    return status;
}

/* The thread whose track shows MARK. Marks of a process are shown at its main
 * thread. The number of threads if no track does. */
static uint32_t
thread_of(const struct firefox *firefox, const struct profile_mark *mark)
{
    const struct profile *profile = firefox->profile;
    uint32_t i = 0;
    if (mark->thread != PROFILE_NO_THREAD)
        return mark->thread;
    while (
        i < profile->thread_count &&
        (!firefox->is_main[i] || profile->threads[i].process != mark->process))
        i++;
    return i;
}

/* A counting sort, as in timeline.c. Marks that no thread shows come after the
 * marks of the last thread. */
static void
sort_marks(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    size_t *first = firefox->mark_first;
    for (size_t i = 0; i < profile->timed_mark_count; i++)
        first[thread_of(firefox, &profile->timed_marks[i]) + 1]++;
    for (uint32_t i = 0; i <= profile->thread_count; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < profile->timed_mark_count; i++)
        firefox->mark_order[first[thread_of(firefox,
                                            &profile->timed_marks[i])]++] =
            (uint32_t)i;
    memmove(first + 1, first, (profile->thread_count + 1u) * sizeof(*first));
    first[0] = 0;
}

/* The name of MARK; the library's own marks have fixed names. */
static const char *
mark_name(const struct profile_mark *mark)
{
    if (mark->kind == MARK_START)
        return "sampling began";
    return mark->kind == MARK_STOP ? "sampling ended" : mark->name;
}

int
firefox_markers_prepare(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    size_t marks = profile->timed_mark_count;
    if (!ARRAY_NEW(firefox->label_keys, profile->label_count) ||
        !ARRAY_NEW(firefox->label_values, profile->label_count) ||
        !ARRAY_NEW(firefox->mark_names, marks) ||
        !ARRAY_NEW(firefox->mark_order, marks) ||
        !ARRAY_NEW(firefox->mark_first, profile->thread_count + 2u))
        return -1;
    for (uint32_t i = 0; i < profile->label_count; i++) {
        const struct profile_label *label = &profile->labels[i];
        firefox->label_keys[i] =
            firefox_tables_string(&firefox->tables, label->key);
        firefox->label_values[i] =
            firefox_tables_string(&firefox->tables, label->value);
    }
    for (size_t i = 0; i < profile->timed_mark_count; i++)
        firefox->mark_names[i] =
            firefox_tables_string(&firefox->tables,
                                  mark_name(&profile->timed_marks[i]));
    sort_marks(firefox);
    return 0;
}

void
firefox_markers_release(struct firefox *firefox)
{
    free(firefox->label_keys);
    free(firefox->label_values);
    free(firefox->mark_names);
    free(firefox->mark_order);
    free(firefox->mark_first);
}
