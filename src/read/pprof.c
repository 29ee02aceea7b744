/* SPDX-License-Identifier: MIT */
/*
 * pprof.c -- turns the samples of a pprof file into those of the model.
 * From what we write ourselves (write/pprof.c) it reads
 *
 *   value types   samples/count, cpu and wall in units of time
 *   labels        thread, tid, process, state, waits_on
 *   comments      process, command, counters (pprof_notes.h)
 *
 * In other profiles the first type that is a count is samples. The first type
 * that is a time is CPU time, unless it is called wall, real or delay. If no
 * type is a time, and the period is one, time is samples times the period
 * (Parca). Other types have no place in the model. Labels that are not ours are
 * kept.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/events.h"
#include "model/sample_state.h"
#include "model/system_call.h"
#include "symbol/elf_view.h"
#include "util/array.h"
#include "util/intern.h"
#include "util/gzip.h"
#include "util/number.h"
#include "spool_load.h"
#include "pprof_file.h"
#include "pprof_notes.h"
#include "pprof.h"

/* The machine for which names of system calls are looked up. Its list has
 * nearly all names of the others. */
#define MACHINE EM_X86_64

/* Limit of the bytes of a build-id that are compared. */
enum { BUILD_ID_MOST = 64 };

struct pprof_read {
    struct pprof_file file; /* first, for callbacks */
    struct spool_load load; /* for spool_load.h; its process is the first */
    struct wire whole;
    uint64_t period, start, duration; /* ns */
    bool is_checking;                 /* samples are checked, not added */
    uint64_t base_node;               /* node of the first of EDGES */
    struct intern processes, threads, edges;
    uint64_t *thread_times; /* time of each thread's next event */
    struct pprof_notes notes;
};

bool
pprof_recognize(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    /* Nearly all writers of profiles begin with a sample type. */
    return gzip_recognize(bytes, length) ||
           (length > 2 && at[0] == (PPROF_SAMPLE_TYPE << 3 | WIRE_BYTES) &&
            at[1] < 64);
}

/* period_type gives the meaning of the number in period: a time by its unit,
 * else nothing that we know. read_head has read that number before. */
static int
read_period(struct pprof_file *file, struct wire message)
{
    struct pprof_read *read = (struct pprof_read *)file;
    const char *type;
    const char *unit;
    if (pprof_file_type(file, message, &type, &unit) != 0)
        return -1;
    if (pprof_file_unit(unit) == 0 ||
        read->period > INT64_MAX / pprof_file_unit(unit))
        read->period = 0;
    else
        read->period *= pprof_file_unit(unit);
    pprof_file_time_by_period(file, type, read->period);
    return 0;
}

/* Take one of the profile's comments. */
static int
add_comment(struct pprof_read *read, uint64_t number)
{
    const char *text = pprof_file_text(&read->file, number);
    return text == NULL ? -1 : pprof_notes_add(&read->notes, text);
}

/* Read the fields of the profile itself. A time beyond its range is damage, and
 * becomes 0 as in a spool. */
static int
read_head(struct pprof_read *read)
{
    struct wire whole = read->whole;
    struct wire_field field;
    while (wire_next(&whole, &field)) {
        uint64_t number;
        if (field.number == PPROF_TIME && field.value < INT64_MAX / 2)
            read->start = field.value;
        else if (field.number == PPROF_DURATION && field.value < INT64_MAX / 2)
            read->duration = field.value;
        else if (field.number == PPROF_PERIOD && field.value < INT64_MAX)
            read->period = field.value;
        else if (field.number == PPROF_COMMENT)
            while (wire_number(&field, &number))
                if (add_comment(read, number) != 0)
                    return -1;
    }
    pprof_notes_end(&read->notes);
    if (pprof_file_each(&read->file, read->whole, PPROF_SAMPLE_TYPE,
                        pprof_file_add_type) != 0 ||
        pprof_file_each(&read->file, read->whole, PPROF_PERIOD_TYPE,
                        read_period) != 0)
        return -1;
    if ((read->file.scale[VALUE_CPU] | read->file.scale[VALUE_WALL]) == 0 &&
        !read->file.counts_samples)
        return pprof_file_refuse(&read->file,
                                 "it counts neither samples nor time");
    return 0;
}

/* Set the state that NAME means. A name that we would not write is ignored. */
static void
set_state(struct profile_sample *key, const char *name)
{
    key->state = STATE_RUNNING;
    key->system_call = SYSCALL_UNKNOWN;
    if (name == NULL || strcmp(name, "running") == 0)
        return;
    unsigned number;
    if (strcmp(name, SAMPLE_STATE_SPINS) == 0) {
        key->is_gpu_wait = true;
    } else if (strcmp(name, SAMPLE_STATE_GPU) == 0) {
        key->state = STATE_WAITING;
        key->is_gpu_wait = true;
    } else if (strcmp(name, "runnable") == 0) {
        key->state = STATE_RUNQUEUE;
    } else if (strcmp(name, "waiting") == 0) {
        key->state = STATE_WAITING;
    } else if (sscanf(name, "system call %5u", &number) == 1 &&
               number < SYSCALL_UNKNOWN) {
        key->state = STATE_WAITING;
        key->system_call = (uint16_t)number;
    } else {
        key->system_call = system_call_number(MACHINE, name);
        if (key->system_call != SYSCALL_UNKNOWN)
            key->state = STATE_WAITING;
    }
}

/* A process without comments gets its name and pid from its label,
 * "app.4711". */
static int
set_process(struct pprof_read *read, struct profile_process *process,
            const char *label)
{
    const struct pprof_note *note = pprof_notes_process(&read->notes, label);
    const char *dot = strrchr(label, '.');
    *process = (struct profile_process){
        .pid = note->pid,
        .machine = MACHINE,
        .period = read->period,
        .start = read->start,
        .duration = read->duration,
        .exe = note->exe,
        .command = note->command,
        .version = "",
        .host = note->host,
        .boot = "",
        .is_foreign = read->load.is_foreign,
        .drop_frames = read->file.drop_frames,
        .keep_frames = read->file.keep_frames,
        .first_node = read->file.profile->node_count,
        .has_map = true,
    };
    if (note->exe[0] != '\0' || dot == NULL)
        return 0;
    process->pid = (uint32_t)strtoul(dot + 1, NULL, 10);
    char *exe = strndup(label, (size_t)(dot - label));
    if (exe == NULL)
        return -1;
    process->exe = profile_string(read->file.profile, exe);
    free(exe);
    return process->exe == NULL ? -1 : 0;
}

/* The process with LABEL, "" if samples have no such label. INTERN_NONE if
 * memory is short. */
static uint32_t
process_of(struct pprof_read *read, const char *label)
{
    struct profile *profile = read->file.profile;
    uint32_t known = intern_count(&read->processes);
    uint32_t number = intern_string(&read->processes, label);
    if (number == INTERN_NONE || number < known)
        return number == INTERN_NONE ? INTERN_NONE
                                     : read->load.process + number;
    if (!ARRAY_GROW(profile->processes, profile->process_count))
        return INTERN_NONE;
    if (set_process(read, &profile->processes[profile->process_count], label) !=
        0)
        return INTERN_NONE;
    return profile->process_count++;
}

/* The thread of a sample; INTERN_NONE if memory is short. */
static uint32_t
thread_of(struct pprof_read *read, const struct pprof_labels *labels)
{
    struct profile *profile = read->file.profile;
    const char *name = labels->thread != NULL ? labels->thread : "";
    uint32_t process =
        process_of(read, labels->process != NULL ? labels->process : "");
    const uint64_t key[3] = {process, labels->tid, (uintptr_t)name};
    uint32_t known = intern_count(&read->threads);
    if (process == INTERN_NONE)
        return INTERN_NONE;
    uint32_t number = intern_put(&read->threads, key, sizeof(key));
    if (number == INTERN_NONE || number < known)
        return number == INTERN_NONE ? INTERN_NONE
                                     : read->load.first_thread + number;
    if (!ARRAY_GROW(profile->threads, profile->thread_count))
        return INTERN_NONE;
    if (!ARRAY_GROW(read->thread_times, known))
        return INTERN_NONE;
    read->thread_times[known] = 0;
    profile->threads[profile->thread_count] =
        (struct profile_thread){.process = process,
                                .tid = (uint32_t)labels->tid,
                                .name = name,
                                .end = UINT64_MAX};
    return profile->thread_count++;
}

/* Set NODE to the place LOCATION, which is no marker. */
static void
set_place(struct pprof_read *read, struct profile_node *node,
          const struct pprof_location *location)
{
    struct profile *profile = read->file.profile;
    node->offset = location->address;
    node->symbol = &location->symbol;
    if (location->mapping == PPROF_NO_MAPPING)
        return;
    const struct pprof_mapping *mapping =
        &read->file.mappings[location->mapping];
    node->flags = mapping->script;
    node->module = mapping->module;
    node->offset -= profile->modules[node->module].base;
    profile->has_scripts |= mapping->script != 0;
}

/* The node of LOCATION called from PARENT; 0 if memory is short. */
static uint32_t
node_of(struct pprof_read *read, uint32_t parent, uint32_t location)
{
    struct profile *profile = read->file.profile;
    const struct pprof_location *at = &read->file.locations[location];
    const uint32_t key[2] = {parent, location};
    uint32_t known = intern_count(&read->edges);
    uint32_t number = intern_put(&read->edges, key, sizeof(key));
    if (number == INTERN_NONE)
        return 0;
    if (number < known)
        return read->base_node + number < UINT32_MAX
                   ? (uint32_t)read->base_node + number
                   : 0;
    struct profile_node *nodes =
        array_room(profile->nodes, profile->node_count, sizeof(*nodes));
    if (nodes == NULL || profile->node_count == UINT32_MAX)
        return 0;
    profile->nodes = nodes;
    nodes[profile->node_count] = (struct profile_node){.parent = parent,
                                                       .flags = at->flags,
                                                       .is_settled = true};
    if (at->flags == 0)
        set_place(read, &nodes[profile->node_count], at);
    return profile->node_count++;
}

/* The node of the current sample's stack; 0 if memory is short. */
static uint32_t
stack_node(struct pprof_read *read)
{
    const struct pprof_location *locations = read->file.locations;
    size_t depth = read->file.depth;
    uint32_t node = 0;
    if (depth == 0)
        return PROFILE_NO_STACK;
    if (depth == 1 && locations[read->file.stack[0]].known_node != 0)
        return locations[read->file.stack[0]].known_node;
    while (depth-- > 0) {
        node = node_of(read, node, read->file.stack[depth]);
        if (node == 0)
            return 0;
    }
    return node;
}

/* The time is not known: each thread's samples follow one another. */
static int
add_event(struct pprof_read *read, uint32_t number, const uint64_t *values)
{
    struct profile *profile = read->file.profile;
    const struct profile_sample *sample = &profile->samples[number];
    uint64_t *time =
        &read->thread_times[sample->thread - read->load.first_thread];
    struct profile_event event = {
        .time = *time,
        .duration = values[VALUE_WALL],
        .sample = number,
        .count = values[VALUE_SAMPLES] < UINT32_MAX
                     ? (uint32_t)values[VALUE_SAMPLES]
                     : UINT32_MAX,
        .cpu = values[VALUE_CPU],
        .wall = values[VALUE_WALL],
    };
    sum_add(time, values[VALUE_WALL]);
    if (sample->state == STATE_RUNNING) {
        event.time = *time;
        event.duration = 0;
    }
    return events_put(profile, &event);
}

/* The number of COUNT samples of a running thread that the sampler asked for.
 * Which samples these are is not known. */
static uint64_t
take_asked(struct pprof_read *read, uint64_t count)
{
    uint64_t *left = &read->notes.counters.by_signal;
    uint64_t asked = count < *left ? count : *left;
    *left -= asked;
    return asked;
}

/* Samples with the same stack but another state or wait are different: all of
 * that is the key. */
static int
add_sample(struct pprof_read *read)
{
    struct profile *profile = read->file.profile;
    const struct pprof_labels *labels = &read->file.labels;
    const uint64_t *values = read->file.values;
    struct profile_sample key = {0};
    uint64_t asked = 0;
    set_state(&key, labels->state);
    key.waits_on = profile_string(profile, labels->waits_on != NULL &&
                                                   key.state == STATE_WAITING
                                               ? labels->waits_on
                                               : "");
    key.thread = thread_of(read, labels);
    key.node = stack_node(read);
    key.labels =
        label_sets_put(profile, read->file.labels.others, labels->other_count);
    if (key.labels == INTERN_NONE || key.waits_on == NULL ||
        key.thread == INTERN_NONE || key.node == 0)
        return -1;
    struct profile_sample *sample = spool_load_sample(&read->load, &key);
    if (sample == NULL)
        return -1;
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&sample->values[i], values[i]);
    if (key.state == STATE_RUNNING && values[VALUE_SAMPLES] > 0)
        sample->squares +=
            pprof_notes_spread(&read->notes) * (double)values[VALUE_CPU] *
            (double)values[VALUE_CPU] / (double)values[VALUE_SAMPLES];
    if (key.state == STATE_RUNNING)
        asked = take_asked(read, values[VALUE_SAMPLES]);
    sum_add(&profile->triggers[TRIGGER_ASK], asked);
    sum_add(&profile->triggers[TRIGGER_NONE], values[VALUE_SAMPLES] - asked);
    sum_add(&profile->states[key.state], values[VALUE_SAMPLES]);
    profile->records++;
    return add_event(read, (uint32_t)(sample - profile->samples), values);
}

/* This is called twice for each sample: to check it, and to add it. */
static int
use_sample(struct pprof_file *file, struct wire message)
{
    struct pprof_read *read = (struct pprof_read *)file;
    if (pprof_file_sample(&read->file, message) != 0)
        return -1;
    return read->is_checking ? 0 : add_sample(read);
}

/* The load bias of MAPPING, whose file has BUILD_ID of LENGTH bytes. It depends
 * on the file's segments. If the file is missing or not usable, the first of
 * them is taken to begin at 0. */
static uint64_t
load_bias(const struct pprof_mapping *mapping, bool is_usable,
          const uint8_t *build_id, size_t length)
{
    struct elf_view view;
    uint64_t address = UINT64_MAX;
    if (is_usable && mapping->path[0] == '/' &&
        elf_view_open(&view, mapping->path) == 0) {
        if (elf_view_has_build_id(&view, build_id, length))
            address = elf_view_address(&view, mapping->offset);
        elf_view_close(&view);
    }
    return mapping->start - (address != UINT64_MAX ? address : mapping->offset);
}

/* From here on the profile changes. */
static int
add_modules(struct pprof_read *read)
{
    struct profile *profile = read->file.profile;
    if (read->notes.process_count > 0)
        read->load.is_foreign =
            spool_load_is_foreign(read->notes.processes[0].host, "");
    for (uint32_t i = 0; i < read->file.mapping_count; i++) {
        struct pprof_mapping *mapping = &read->file.mappings[i];
        if (mapping->script != 0)
            continue;
        uint8_t build_id[BUILD_ID_MOST];
        size_t length =
            number_bytes(mapping->build_id, build_id, sizeof(build_id));
        mapping->module = profile->module_count;
        if (!ARRAY_GROW(profile->modules, profile->module_count))
            return -1;
        struct profile_module *modules = profile->modules;
        modules[profile->module_count] = (struct profile_module){
            .process = read->load.process,
            .base = load_bias(mapping, length > 0 || !read->load.is_foreign,
                              build_id, length),
            .start = mapping->start,
            .end = mapping->limit,
            .path = mapping->path,
            .build_id = mapping->build_id,
            .names = mapping->names,
            .has_names = true,
        };
        modules[profile->module_count].symbols =
            spool_load_file(profile, mapping->path, mapping->build_id, build_id,
                            length);
        if (modules[profile->module_count++].symbols == 0)
            return -1;
    }
    return 0;
}

/* Samples create the processes that they name; a file without samples still has
 * one. A profile without processes names its program by its first mapping that
 * is no language of an interpreter. */
static int
add_all(struct pprof_read *read)
{
    struct profile *profile = read->file.profile;
    if (add_modules(read) != 0)
        return -1;
    int status =
        pprof_file_each(&read->file, read->whole, PPROF_SAMPLE, use_sample);
    if (profile->process_count == read->load.process)
        return status == 0 && process_of(read, "") == INTERN_NONE ? -1 : status;
    struct profile_process *process = &profile->processes[read->load.process];
    for (uint32_t i = 0;
         i < read->file.mapping_count && process->exe[0] == '\0'; i++)
        if (read->file.mappings[i].script == 0)
            process->exe = read->file.mappings[i].path;
    return status;
}

static int
read_all(struct pprof_read *read, struct profile *profile)
{
    read->load = (struct spool_load){.profile = profile,
                                     .process = profile->process_count,
                                     .first_thread = profile->thread_count,
                                     .first_sample = profile->sample_count,
                                     .first_event = profile->event_count};
    read->base_node = profile->node_count;
    read->notes.profile = profile;
    if (pprof_file_read(&read->file, profile, read->whole) != 0 ||
        read_head(read) != 0)
        return -1;
    read->is_checking = true;
    if (pprof_file_each(&read->file, read->whole, PPROF_SAMPLE, use_sample) !=
        0)
        return -1;
    read->is_checking = false;
    if (add_all(read) != 0)
        return -1;
    read->load.cost = read->notes.counters.cost;
    read->load.end = read->duration;
    spool_load_sum(&read->load);
    return 0;
}

int
pprof_read(struct profile *profile, const void *bytes, size_t length,
           const char **wrong)
{
    struct pprof_read read = {.whole.at = bytes};
    uint8_t *unpacked = NULL;
    int status = -1;
    *wrong = NULL;
    if (gzip_recognize(bytes, length)) {
        unpacked = gzip_unpack(bytes, length, &length);
        if (unpacked == NULL && errno != ENOMEM)
            *wrong = errno == EFBIG ? "it is too large"
                                    : "it is damaged, or its end is missing";
        if (unpacked == NULL)
            return -1;
        read.whole.at = unpacked;
    }
    read.whole.end = read.whole.at + length;
    status = read_all(&read, profile);
    if (status == 0)
        profile->has_no_times = true;
    if (status == 0 && pprof_notes_spread(&read.notes) == 0)
        profile->lacks_spread = true;
    if (status == 0 && read.file.is_not_pruned)
        read.file.wrong = "its drop_frames or keep_frames are not understood: "
                          "all frames stay";
    *wrong = read.file.wrong;
    pprof_file_release(&read.file);
    pprof_notes_release(&read.notes);
    intern_clear(&read.processes);
    intern_clear(&read.threads);
    intern_clear(&read.edges);
    free(read.thread_times);
    free(unpacked);
    return status;
}
