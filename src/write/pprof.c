/* SPDX-License-Identifier: MIT */
/*
 * pprof.c -- the format that `go tool pprof` and its relatives read. For a
 * profile with
 *
 *   main -> work        3 samples, 3 ms of CPU, thread "app" (tid 7), running
 *   main -> read        2 samples, 0 CPU, 2 ms of wall time, in system call
 *                       read on pipe:[17]
 *
 * `go tool pprof -raw` prints
 *
 *   Samples:
 *   samples/count cpu/nanoseconds[dflt] wall/nanoseconds
 *           3    3000000    3000000: 1 2
 *                   state:[running]
 *                   thread:[app]
 *                   tid:[7]
 *           2          0    2000000: 3 2
 *                   state:[read]
 *                   waits_on:[pipe:[17]]
 *                   ...
 *
 * Samples are written one by one. Each is written after the parts that it needs
 * and that were not written yet; a reader puts the parts together by their ids.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/label_sets.h"
#include "model/quality.h"
#include "pprof_places.h"
#include "pprof_stream.h"
#include "output.h"

/* Most labels of a sample: our own, and ours with those of the program. */
enum { OWN_LABELS = 5, LABELS_MOST = OWN_LABELS + LABEL_SETS_DEPTH };

/* A profile that is being written. */
struct pprof {
    struct profile *profile;
    struct pprof_stream stream;
    struct pprof_places places;
    uint64_t *stack; /* location ids of the current sample */
    size_t depth, room;
    Perftools__Profiles__Label labels[LABELS_MOST];
    Perftools__Profiles__Label *label_list[LABELS_MOST];
    size_t label_count;
};

static Perftools__Profiles__ValueType
value_type(struct pprof_stream *stream, const char *type, const char *unit)
{
    Perftools__Profiles__ValueType value =
        PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
    value.type = pprof_stream_text(stream, type);
    value.unit = pprof_stream_text(stream, unit);
    return value;
}

/* Write the kinds of values, and when and how they were taken. */
static void
write_head(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    struct pprof_stream *stream = &pprof->stream;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    Perftools__Profiles__ValueType types[VALUE_COUNT] = {
        [VALUE_SAMPLES] = value_type(stream, "samples", "count"),
        [VALUE_CPU] = value_type(stream, "cpu", "nanoseconds"),
        [VALUE_WALL] = value_type(stream, "wall", "nanoseconds"),
    };
    Perftools__Profiles__ValueType *list[VALUE_COUNT] = {&types[0], &types[1],
                                                         &types[2]};
    part.n_sample_type = VALUE_COUNT;
    part.sample_type = list;
    part.default_sample_type = types[VALUE_CPU].type;
    part.period_type = &types[VALUE_WALL];
    if (profile->process_count > 0)
        part.period = (int64_t)profile->processes[0].period;
    part.time_nanos = (int64_t)profile->start;
    part.duration_nanos = (int64_t)profile->duration;
    pprof_stream_part(stream, &part);
}

/* `go tool pprof -comments` shows comments, and so do its tables. */
static void
write_comment(struct pprof *pprof, const char *key, const char *value)
{
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    char text[1024];
    snprintf(text, sizeof(text), "%s: %s", key, value);
    int64_t comment = pprof_stream_text(&pprof->stream, text);
    part.n_comment = 1;
    part.comment = &comment;
    pprof_stream_part(&pprof->stream, &part);
}

static void
write_comments(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    char text[512];
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        snprintf(text, sizeof(text), "%u on %.200s, %.200s", process->pid,
                 process->host[0] != '\0' ? process->host : "unknown host",
                 process->exe);
        write_comment(pprof, "process", text);
        write_comment(pprof, "command", process->command);
    }
    if (quality_rate(profile, text, sizeof(text))[0] != '\0') {
        write_comment(pprof, "rate", text);
        write_comment(pprof, "due", quality_due(profile, text, sizeof(text)));
    }
    if (quality_unseen(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "unseen", text);
    write_comment(pprof, "lost", quality_losses(profile, text, sizeof(text)));
    write_comment(pprof, "cut", quality_cuts(profile, text, sizeof(text)));
    write_comment(pprof, "cost", quality_cost(profile, text, sizeof(text)));
    if (quality_asked(profile, text, sizeof(text))[0] != '\0')
        write_comment(pprof, "note", text);
}

/* A label with a text, or with a number if TEXT is NULL. */
static void
add_label(struct pprof *pprof, const char *key, const char *text,
          int64_t number)
{
    Perftools__Profiles__Label *label = &pprof->labels[pprof->label_count];
    perftools__profiles__label__init(label);
    label->key = pprof_stream_text(&pprof->stream, key);
    if (text != NULL)
        label->str = pprof_stream_text(&pprof->stream, text);
    else
        label->num = number;
    pprof->label_list[pprof->label_count++] = label;
}

/* Add the labels that the program set. A number keeps its unit. */
static void
add_program_labels(struct pprof *pprof, uint32_t set)
{
    struct label_pair pairs[LABEL_SETS_DEPTH];
    unsigned count = label_sets_get(pprof->profile, set, pairs);
    for (unsigned i = 0; i < count; i++) {
        bool is_number = pairs[i].unit != NULL;
        add_label(pprof, pairs[i].key, is_number ? NULL : pairs[i].value,
                  is_number ? strtoll(pairs[i].value, NULL, 10) : 0);
        if (is_number && pairs[i].unit[0] != '\0')
            pprof->labels[pprof->label_count - 1].num_unit =
                pprof_stream_text(&pprof->stream, pairs[i].unit);
    }
}

static void
set_labels(struct pprof *pprof, const struct profile_sample *sample)
{
    struct profile *profile = pprof->profile;
    const struct profile_thread *thread = &profile->threads[sample->thread];
    const struct profile_process *process =
        &profile->processes[thread->process];
    char text[512];
    pprof->label_count = 0;
    if (thread->name[0] != '\0')
        add_label(pprof, "thread", thread->name, 0);
    add_label(pprof, "tid", NULL, thread->tid);
    add_label(pprof, "state", profile_state(profile, sample), 0);
    if (sample->waits_on[0] != '\0')
        add_label(pprof, "waits_on", sample->waits_on, 0);
    if (profile->process_count > 1) {
        snprintf(text, sizeof(text), "%s.%u", path_name(process->exe),
                 process->pid);
        add_label(pprof, "process", text, 0);
    }
    add_program_labels(pprof, sample->labels);
}

/* Make room for the stack with LEAF. Returns 0, or -1 if memory is short. */
static int
reserve_stack(struct pprof *pprof, uint32_t leaf)
{
    const struct profile *profile = pprof->profile;
    size_t depth = 0;
    for (uint32_t i = leaf; i != 0; i = profile->nodes[i].parent)
        depth++;
    if (depth <= pprof->room)
        return 0;
    uint64_t *stack = realloc(pprof->stack, 2 * depth * sizeof(*stack));
    if (stack == NULL)
        return -1;
    pprof->stack = stack;
    pprof->room = 2 * depth;
    return 0;
}

/* Collect the location ids of a stack, leaf first. Returns 0, or -1 if memory
 * is short. */
static int
set_stack(struct pprof *pprof, uint32_t leaf)
{
    const struct profile *profile = pprof->profile;
    pprof->depth = 0;
    if (reserve_stack(pprof, leaf) != 0)
        return -1;
    for (uint32_t i = leaf; i != 0; i = profile->nodes[i].parent) {
        uint64_t location = pprof_places_location(&pprof->places, i);
        if (location == 0)
            return -1;
        pprof->stack[pprof->depth++] = location;
    }
    return 0;
}

static int
write_sample(struct pprof *pprof, const struct profile_sample *from)
{
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
    Perftools__Profiles__Sample *only = &sample;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    if (set_stack(pprof, from->node) != 0)
        return -1;
    set_labels(pprof, from);
    int64_t values[VALUE_COUNT];
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        values[i] = (int64_t)from->values[i];
    sample.n_location_id = pprof->depth;
    sample.location_id = pprof->stack;
    sample.n_value = VALUE_COUNT;
    sample.value = values;
    sample.n_label = pprof->label_count;
    sample.label = pprof->label_list;
    part.n_sample = 1;
    part.sample = &only;
    pprof_stream_part(&pprof->stream, &part);
    return 0;
}

/* Parts may come in any order; each sample is written with what it refers to.
 */
static int
write_all(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    write_head(pprof);
    write_comments(pprof);
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (write_sample(pprof, &profile->samples[i]) != 0)
            return -1;
    pprof_places_write_mappings(&pprof->places);
    return 0;
}

/* Measured: a node takes some 100 bytes with its location, function and names,
 * and a sample 50 with its stack and labels. */
static size_t
expected_size(const struct profile *profile)
{
    return 100 * (size_t)profile->node_count +
           50 * (size_t)profile->sample_count;
}

int
pprof_write(FILE *stream, struct profile *profile)
{
    struct pprof pprof = {.profile = profile};
    if (pprof_stream_begin(&pprof.stream, stream, expected_size(profile)) != 0)
        return -1;
    int status = pprof_places_begin(&pprof.places, &pprof.stream, profile);
    if (status == 0)
        status = write_all(&pprof);
    pprof_places_release(&pprof.places);
    free(pprof.stack);
    if (pprof_stream_end(&pprof.stream) != 0)
        return -1;
    if (status != 0)
        errno = ENOMEM;
    return status;
}
