/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c -- the format of https://www.speedscope.app/file-format-schema
 * .json. A thread that ran in main for 1 ms up to 3 ms after the start, and
 * then waited in read for 4 ms, is
 *
 *   {"type": "sampled", "name": "app (tid 4711): wall time",
 *    "unit": "nanoseconds", "startValue": 0, "endValue": 7000000,
 *    "samples": [[], [0], [0, 1, 2]],
 *    "weights": [2000000, 1000000, 4000000]}
 *
 * with the frames main, read and [waiting]. Weights are wall time here, with
 * waits, and "Time Order" shows it from left to right. The stack is empty while
 * the thread's place is not known. Running time lies before its sample, waiting
 * time after it. With CPU time, which is the usual case, the thread is "app
 * (tid 4711): CPU time" and has [0] for 1 ms alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/naming.h"
#include "model/sample_state.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "util/json.h"
#include "view/timeline.h"
#include "output_file.h"

#define END UINT32_MAX

/* A frame of the file: these distinguish functions. */
struct row {
    uint32_t name, file; /* strings */
    uint32_t line;       /* where the function begins */
};

struct speedscope {
    struct profile *profile;
    enum value value; /* VALUE_CPU or VALUE_WALL */
    struct json json;
    struct timeline timeline;
    struct intern *strings, *frames;
    uint32_t *first; /* of each node: index of its frames in LIST; 0: not yet */
    uint32_t
        *list; /* frames of nodes, outermost first, each list ends with END */
    uint32_t list_count;
    uint32_t *state; /* by sample: the frame for its state; END: none */
    uint32_t *nodes; /* of the current stack, leaf first; room for all */
    bool failed;
};

/* A stretch of time in which one thread does one thing. */
struct slice {
    uint64_t idle;   /* ns before it without a known place */
    uint64_t weight; /* ns */
    uint32_t sample;
};

/* A walk over the slices of a thread. */
struct slices {
    const struct speedscope *speedscope;
    uint32_t thread;
    size_t next;   /* event */
    uint64_t time; /* ns, end of the last slice */
};

/* The same function in many nodes is one frame. Failures are noted, and checked
 * once when all frames are made. */
static uint32_t
frame_of(struct speedscope *speedscope, const char *name, const char *file,
         unsigned line)
{
    const struct row row = {clean_put(speedscope->strings, name, ""),
                            clean_put(speedscope->strings, file, ""), line};
    uint32_t number = intern_put(speedscope->frames, &row, sizeof(row));
    if (row.name == INTERN_NONE || row.file == INTERN_NONE ||
        number == INTERN_NONE)
        speedscope->failed = true;
    return number;
}

static void
add_to_list(struct speedscope *speedscope, uint32_t frame)
{
    if (speedscope->list_count == UINT32_MAX ||
        !ARRAY_GROW(speedscope->list, speedscope->list_count))
        speedscope->failed = true;
    else
        speedscope->list[speedscope->list_count++] = frame;
}

/* Add the frames of NODE. All frames are added before a stack is written,
 * because they stand at the beginning of the file. */
static void
add_node(struct speedscope *speedscope, uint32_t node)
{
    const struct symbol *symbol = naming_symbol(speedscope->profile, node);
    speedscope->first[node] = speedscope->list_count;
    for (unsigned i = symbol->count; i-- > 0;) {
        const struct symbol_frame *frame = &symbol->frames[i];
        add_to_list(speedscope, frame_of(speedscope, frame->function,
                                         frame->file, frame->start_line));
    }
    add_to_list(speedscope, END);
}

/* Entry 0 of LIST is an END without frames, so that 0 in FIRST can mean "not
 * yet". If a node is known, its callers are known, too, so the loop ends there.
 */
static void
add_nodes(struct speedscope *speedscope)
{
    const struct profile *profile = speedscope->profile;
    add_to_list(speedscope, END);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        uint32_t node = profile->samples[i].node;
        const char *state =
            sample_state_frame(speedscope->profile, &profile->samples[i]);
        bool counts = speedscope->value == VALUE_WALL ||
                      profile->samples[i].state == STATE_RUNNING;
        speedscope->state[i] =
            counts && state != NULL ? frame_of(speedscope, state, "", 0) : END;
        for (; node != 0 && speedscope->first[node] == 0;
             node = profile->nodes[node].parent)
            add_node(speedscope, node);
    }
}

/* Unknown members of a frame are left out, as the schema allows. */
static void
write_frames(struct speedscope *speedscope)
{
    struct json *json = &speedscope->json;
    const struct intern *strings = speedscope->strings;
    json_name_open(json, "shared", '{');
    json_name_open(json, "frames", '[');
    for (uint32_t i = 0; i < intern_count(speedscope->frames); i++) {
        const struct row *row = intern_bytes(speedscope->frames, i);
        const char *file = intern_bytes(strings, row->file);
        json_open(json, '{');
        json_name_string(json, "name", intern_bytes(strings, row->name));
        if (file[0] != '\0')
            json_name_string(json, "file", file);
        if (row->line > 0)
            json_name_number(json, "line", row->line);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* CPU time is put together without gaps. */
static bool
next_cpu_slice(struct slices *slices, struct slice *slice)
{
    const struct profile_event *event;
    while ((event = timeline_at(&slices->speedscope->timeline, slices->thread,
                                slices->next)) != NULL) {
        slices->next++;
        if (event->cpu == 0)
            continue;
        *slice = (struct slice){.weight = event->cpu, .sample = event->sample};
        sum_add(&slices->time, slice->weight);
        return true;
    }
    return false;
}

/* A slice never begins before the last one ends: otherwise slices would
 * overlap, or the weights would differ from the profile. */
static bool
next_wall_slice(struct slices *slices, struct slice *slice)
{
    const struct speedscope *speedscope = slices->speedscope;
    const struct profile *profile = speedscope->profile;
    const struct profile_event *event =
        timeline_at(&speedscope->timeline, slices->thread, slices->next);
    if (event == NULL)
        return false;
    slices->next++;
    uint64_t time = events_time(profile, event);
    if (profile->samples[event->sample].state == STATE_RUNNING)
        time -= event->wall < time ? event->wall : time;
    *slice = (struct slice){.weight = event->wall, .sample = event->sample};
    if (time > slices->time)
        slice->idle = time - slices->time;
    sum_add(&slices->time, slice->idle);
    sum_add(&slices->time, slice->weight);
    return true;
}

static bool
next_slice(struct slices *slices, struct slice *slice)
{
    return slices->speedscope->value == VALUE_CPU
               ? next_cpu_slice(slices, slice)
               : next_wall_slice(slices, slice);
}

/* From the root to the leaf, and last the state in which the thread waits. So
 * waiting and working are apart in every view. A wait has no CPU time, unless
 * it spins. */
static void
write_stack(struct speedscope *speedscope, uint32_t number)
{
    const struct profile_sample *sample = &speedscope->profile->samples[number];
    const struct profile_node *nodes = speedscope->profile->nodes;
    struct json *json = &speedscope->json;
    size_t depth = 0;
    for (uint32_t i = sample->node; i != 0; i = nodes[i].parent)
        speedscope->nodes[depth++] = i;
    json_open(json, '[');
    while (depth-- > 0) {
        const uint32_t *frame =
            speedscope->list + speedscope->first[speedscope->nodes[depth]];
        for (; *frame != END; frame++)
            json_number(json, *frame);
    }
    if (speedscope->state[number] != END)
        json_number(json, speedscope->state[number]);
    json_close(json, ']');
}

/* Write the samples of THREAD. Returns the end of the last slice. */
static uint64_t
write_samples(struct speedscope *speedscope, uint32_t thread)
{
    struct slices slices = {.speedscope = speedscope, .thread = thread};
    struct slice slice;
    json_name_open(&speedscope->json, "samples", '[');
    while (next_slice(&slices, &slice)) {
        if (slice.idle > 0)
            json_raw(&speedscope->json, "[]");
        write_stack(speedscope, slice.sample);
    }
    json_close(&speedscope->json, ']');
    return slices.time;
}

/* Walk over the slices again. In the file the weights come after all samples,
 * and a second walk is cheaper than keeping them. */
static void
write_weights(struct speedscope *speedscope, uint32_t thread)
{
    struct slices slices = {.speedscope = speedscope, .thread = thread};
    struct slice slice;
    json_name_open(&speedscope->json, "weights", '[');
    while (next_slice(&slices, &slice)) {
        if (slice.idle > 0)
            json_number(&speedscope->json, slice.idle);
        json_number(&speedscope->json, slice.weight);
    }
    json_close(&speedscope->json, ']');
}

/* Write "worker (tid 4712 of app 4711): wall time". The order of the samples of
 * a pprof file is unknown, but all views other than "Time Order" are right. */
static void
write_name(struct speedscope *speedscope, uint32_t number)
{
    const struct profile *profile = speedscope->profile;
    const struct profile_thread *thread = &profile->threads[number];
    const struct profile_process *process =
        &profile->processes[thread->process];
    char text[512];
    snprintf(text, sizeof(text), "%.200s (tid %u of %.200s %u): %s time%s",
             thread->name[0] != '\0' ? thread->name : "thread", thread->tid,
             path_name(process->exe), process->pid,
             speedscope->value == VALUE_CPU ? "CPU" : "wall",
             profile->has_no_times ? ", in no order of time" : "");
    json_name_string(&speedscope->json, "name", text);
}

static void
write_thread(struct speedscope *speedscope, uint32_t number)
{
    struct json *json = &speedscope->json;
    json_open(json, '{');
    json_name_string(json, "type", "sampled");
    write_name(speedscope, number);
    json_name_string(json, "unit", "nanoseconds");
    json_name_number(json, "startValue", 0);
    uint64_t end = write_samples(speedscope, number);
    write_weights(speedscope, number);
    json_name_number(json, "endValue", end);
    json_close(json, '}');
}

/* The thread that is shown first is the one with the most CPU time. */
static void
write_threads(struct speedscope *speedscope)
{
    const struct profile *profile = speedscope->profile;
    struct json *json = &speedscope->json;
    uint64_t most = 0;
    uint32_t written = 0, active = 0;
    json_name_open(json, "profiles", '[');
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        uint64_t cpu = profile->threads[i].values[VALUE_CPU];
        struct slices look = {.speedscope = speedscope, .thread = i};
        struct slice slice;
        if (!next_slice(&look, &slice))
            continue;
        write_thread(speedscope, i);
        if (cpu > most) {
            most = cpu;
            active = written;
        }
        written++;
    }
    json_close(json, ']');
    json_name_number(json, "activeProfileIndex", active);
}

static int
write_all(struct speedscope *speedscope, FILE *stream)
{
    const struct profile *profile = speedscope->profile;
    struct json *json = &speedscope->json;
    json_begin(json, stream);
    json_open(json, '{');
    json_name_string(json, "$schema",
                     "https://www.speedscope.app/file-format-schema.json");
    json_name_string(json, "exporter", "libsprof@" SPROF_VERSION);
    if (profile->process_count > 0)
        json_name_string(json, "name", profile->processes[0].command);
    write_frames(speedscope);
    write_threads(speedscope);
    json_close(json, '}');
    if (json_end(json) != 0)
        return -1;
    errno = ENOMEM;
    return speedscope->failed ? -1 : 0;
}

/* Make all frames. Returns 0, or -1 with errno set if memory is short. */
static int
begin_frames(struct speedscope *speedscope)
{
    speedscope->strings = intern_new();
    speedscope->frames = intern_new();
    if (speedscope->strings == NULL || speedscope->frames == NULL ||
        !ARRAY_NEW(speedscope->first, speedscope->profile->node_count) ||
        !ARRAY_NEW(speedscope->nodes, speedscope->profile->node_count) ||
        !ARRAY_NEW(speedscope->state, speedscope->profile->sample_count))
        return -1;
    add_nodes(speedscope);
    errno = ENOMEM;
    return speedscope->failed ? -1 : 0;
}

static int
write_value(FILE *stream, struct profile *profile, enum value value)
{
    struct speedscope speedscope = {.profile = profile, .value = value};
    if (timeline_build(&speedscope.timeline, profile) != 0)
        return -1;
    int status = begin_frames(&speedscope);
    if (status == 0)
        status = write_all(&speedscope, stream);
    int error = errno;
    timeline_release(&speedscope.timeline);
    intern_free(speedscope.strings);
    intern_free(speedscope.frames);
    free(speedscope.first);
    free(speedscope.list);
    free(speedscope.nodes);
    free(speedscope.state);
    errno = error;
    return status;
}

int
speedscope_write(FILE *stream, struct profile *profile)
{
    return write_value(stream, profile, VALUE_CPU);
}

int
speedscope_write_wall(FILE *stream, struct profile *profile)
{
    return write_value(stream, profile, VALUE_WALL);
}
