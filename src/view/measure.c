/* SPDX-License-Identifier: MIT */
/*
 * measure.c -- names the functions on the stacks of samples once for each node.
 * Then it adds every sample where it belongs. For cumulative sums, a sample
 * walks its stack; a stamp for each function makes recursion count once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/events.h"
#include "model/naming.h"
#include "util/array.h"
#include "util/intern.h"
#include "confidence.h"
#include "diff.h"

enum { NAME_MOST = 4096 };

/* The functions of a node: FRAMES[FIRST], ..., the innermost last. */
struct place {
    uint32_t first, count; /* COUNT is 0 for a node that is not needed */
    uint32_t stack;        /* number of the stack that ends here */
};

/* The state while measuring. */
struct taking {
    struct profile *profile;
    struct measure_names *names;
    struct measure *measure;
    enum measure_by by;
    enum value value;
    struct place *places; /* by node */
    uint32_t *frames;
    uint32_t frame_count;
    struct significance_sum *samples; /* by sample */
    struct significance_sum running;  /* of samples that depend on the rate */
    uint32_t *stamps; /* by function: the last sample's number + 1 */
};

int
measure_begin_names(struct measure_names *names)
{
    *names = (struct measure_names){.functions = intern_new(),
                                    .stacks = intern_new()};
    return names->functions == NULL || names->stacks == NULL ? -1 : 0;
}

/* The length of NAME without the suffixes of compilers for clones. */
static size_t
plain_length(const char *name)
{
    static const char *const marks[] = {".constprop.", ".isra.",     ".part.",
                                        ".cold",       ".lto_priv.", ".llvm."};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const char *mark = strstr(name, marks[i]);
        if (mark != NULL && mark > name && (size_t)(mark - name) < length)
            length = (size_t)(mark - name);
    }
    return length;
}

/* The comparable name of NODE's module, *LENGTH bytes; 0 for the program. */
static const char *
plain_module(const struct profile *profile, uint32_t node, size_t *length)
{
    uint32_t module = profile->nodes[node].module;
    const char *path = profile->modules[module].path;
    const char *name = profile_module_name(profile, module);
    const char *so = strstr(name, ".so");
    uint32_t process = profile->modules[module].process;
    *length = so != NULL ? (size_t)(so - name) : strlen(name);
    if (module != 0 && strcmp(path, profile->processes[process].exe) == 0)
        *length = 0;
    return name;
}

/* The number of function NAME at NODE; INTERN_NONE if memory is short. */
static uint32_t
find_function(struct taking *taking, uint32_t node, const char *name)
{
    struct measure_names *names = taking->names;
    const struct profile *profile = taking->profile;
    size_t length = plain_length(name);
    size_t module_length;
    const char *module = plain_module(profile, node, &module_length);
    if (length > NAME_MOST / 2)
        length = NAME_MOST / 2;
    if (module_length > NAME_MOST / 4)
        module_length = NAME_MOST / 4;
    char key[NAME_MOST];
    /* The key has both names with a NUL between them; names too long for it are
     * truncated. */
    memcpy(key, name, length);
    key[length] = '\0';
    memcpy(key + length + 1, module, module_length);
    uint32_t number =
        intern_put(names->functions, key, length + 1 + module_length);
    if (number == INTERN_NONE)
        return INTERN_NONE;
    if (number == names->module_count) {
        if (!ARRAY_GROW(names->modules, number))
            return INTERN_NONE;
        names->module_count++;
    }
    names->modules[number] =
        profile_module_name(profile, profile->nodes[node].module);
    return number;
}

/* Name the functions at NODE, whose parent is named. Returns 0, or -1 if memory
 * is short. */
static int
name_node(struct taking *taking, uint32_t node)
{
    const struct symbol *symbol = naming_symbol(taking->profile, node);
    uint32_t parent = taking->profile->nodes[node].parent;
    struct place *place = &taking->places[node];
    uint32_t edge[2] = {parent == 0 ? INTERN_NONE
                                    : taking->places[parent].stack,
                        0};
    place->first = taking->frame_count;
    place->count = symbol->count;
    for (unsigned i = symbol->count; i > 0; i--) {
        if (!ARRAY_GROW(taking->frames, taking->frame_count))
            return -1;
        edge[1] = find_function(taking, node,
                                symbol->named ? symbol->frames[i - 1].function
                                              : MEASURE_NAMELESS);
        if (edge[1] == INTERN_NONE)
            return -1;
        taking->frames[taking->frame_count++] = edge[1];
        /* A function that calls itself is on the stack once, however deep: runs
         * that differ only in depth have the same stacks. */
        if (edge[0] != INTERN_NONE &&
            measure_leaf(taking->names, edge[0]) == edge[1])
            continue;
        edge[0] = intern_put(taking->names->stacks, edge, sizeof(edge));
        if (edge[0] == INTERN_NONE)
            return -1;
    }
    place->stack = edge[0];
    return 0;
}

/* Name the nodes on the stacks of samples with a value, parents first. Returns
 * 0, or -1 if memory is short. */
static int
name_nodes(struct taking *taking)
{
    const struct profile *profile = taking->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        for (uint32_t node = profile->samples[i].node;
             taking->samples[i].value > 0 && node != 0 &&
             taking->places[node].count == 0;
             node = profile->nodes[node].parent)
            taking->places[node].count = 1;
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (taking->places[i].count > 0 && name_node(taking, i) != 0)
            return -1;
    return 0;
}

/* The number of independent points that COUNT sample points of SAMPLE in one
 * record are. While a thread runs, each is one. A wait, or a time in the run
 * queue, is one, however long it was. */
static double
points_of(const struct profile_sample *sample, uint64_t count)
{
    return sample->state == STATE_RUNNING && count > 1 ? (double)count : 1;
}

static double
value_of(const struct profile_event *event, enum value value)
{
    if (value == VALUE_CPU)
        return (double)event->cpu;
    return value == VALUE_WALL ? (double)event->wall : event->count;
}

/* Whether the time of a point of SAMPLE depends on the rate. The time of a
 * wait, and time that was measured, do not. */
static bool
depends_on_rate(const struct profile_sample *sample)
{
    return sample->state == STATE_RUNNING && !sample->is_measured &&
           sample->node != PROFILE_NOT_SAMPLED;
}

/* Set the value and squares of each sample. A sample without events counts as
 * one record. */
static void
weigh_samples(struct taking *taking)
{
    const struct profile *profile = taking->profile;
    for (size_t i = 0; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        const struct profile_sample *sample = &profile->samples[event->sample];
        double value = value_of(event, taking->value);
        taking->samples[event->sample].squares +=
            value * value / points_of(sample, event->count);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        double value = (double)sample->values[taking->value];
        taking->samples[i].value = value;
        if (taking->samples[i].squares <= 0)
            taking->samples[i].squares =
                value * value /
                points_of(sample, sample->values[VALUE_SAMPLES]);
        /* A pprof file has its samples in sums, and tells their squares. */
        if (profile->has_no_times && sample->state == STATE_RUNNING &&
            taking->value != VALUE_SAMPLES && sample->squares > 0)
            taking->samples[i].squares =
                confidence_squares(profile, sample, taking->value);
        if (depends_on_rate(sample))
            taking->samples[i].sampled = taking->samples[i].squares;
    }
}

static void
add_sums(struct significance_sum *to, const struct significance_sum *sum)
{
    to->value += sum->value;
    to->squares += sum->squares;
    to->sampled += sum->sampled;
}

/* Add sample NUMBER to every function on its stack. */
static void
add_to_stack(struct taking *taking, uint32_t number)
{
    const struct profile *profile = taking->profile;
    for (uint32_t node = profile->samples[number].node; node != 0;
         node = profile->nodes[node].parent) {
        const struct place *place = &taking->places[node];
        for (uint32_t i = 0; i < place->count; i++) {
            uint32_t function = taking->frames[place->first + i];
            if (taking->stamps[function] != number + 1)
                add_sums(&taking->measure->sums[function],
                         &taking->samples[number]);
            taking->stamps[function] = number + 1;
        }
    }
}

/* A function's own time is that of stacks that end in it. It is the innermost
 * function of the leaf, which is the last one of a place. */
static void
add_samples(struct taking *taking)
{
    const struct profile *profile = taking->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct significance_sum *sum = &taking->samples[i];
        const struct place *place = &taking->places[profile->samples[i].node];
        if (sum->value <= 0)
            continue;
        add_sums(&taking->measure->total, sum);
        if (sum->sampled > 0)
            add_sums(&taking->running, sum);
        if (taking->by == MEASURE_CUMULATIVE)
            add_to_stack(taking, i);
        else if (taking->by == MEASURE_STACK)
            add_sums(&taking->measure->sums[place->stack], sum);
        else
            add_sums(
                &taking->measure
                     ->sums[taking->frames[place->first + place->count - 1]],
                sum);
    }
}

/* Name everything first; then every sum has a place. Returns 0, or -1 if memory
 * is short. */
static int
take_runs(struct taking *taking)
{
    struct measure *measure = taking->measure;
    weigh_samples(taking);
    if (name_nodes(taking) != 0)
        return -1;
    measure->count =
        intern_count(taking->by == MEASURE_STACK ? taking->names->stacks
                                                 : taking->names->functions);
    measure->sums = calloc(measure->count + 1u, sizeof(*measure->sums));
    taking->stamps = calloc(measure->count + 1u, sizeof(*taking->stamps));
    if (measure->sums == NULL || taking->stamps == NULL)
        return -1;
    add_samples(taking);
    if (taking->running.value > 0)
        measure->point = taking->running.squares / taking->running.value;
    return 0;
}

int
measure_take(struct measure *measure, struct measure_names *names,
             struct profile *profile, enum measure_by by, enum value value)
{
    struct taking taking = {
        .profile = profile,
        .names = names,
        .measure = measure,
        .by = by,
        .value = value,
        .places = calloc(profile->node_count, sizeof(struct place)),
        .samples =
            calloc(profile->sample_count + 1u, sizeof(struct significance_sum)),
    };
    int status = -1;
    *measure = (struct measure){0};
    if (taking.places != NULL && taking.samples != NULL)
        status = take_runs(&taking);
    free(taking.stamps);
    free(taking.samples);
    free(taking.frames);
    free(taking.places);
    if (status != 0) {
        measure_release(measure);
        errno = ENOMEM;
    }
    return status;
}

const char *
measure_function(const struct measure_names *names, uint32_t function)
{
    return intern_bytes(names->functions, function);
}

const char *
measure_module(const struct measure_names *names, uint32_t function)
{
    return names->modules[function];
}

/* A stack is a key of two numbers: the stack below, and its last function. */
uint32_t
measure_leaf(const struct measure_names *names, uint32_t stack)
{
    return ((const uint32_t *)intern_bytes(names->stacks, stack))[1];
}

uint32_t
measure_below(const struct measure_names *names, uint32_t stack)
{
    return ((const uint32_t *)intern_bytes(names->stacks, stack))[0];
}

void
measure_release(struct measure *measure)
{
    free(measure->sums);
    *measure = (struct measure){0};
}

void
measure_end_names(struct measure_names *names)
{
    intern_free(names->stacks);
    intern_free(names->functions);
    free(names->modules);
    *names = (struct measure_names){0};
}
