/* SPDX-License-Identifier: MIT */
/*
 * spool_copy.c -- the spools of a profile in one file, with their names. It can
 * be reported where the program and its symbols are missing. If the profile has
 * exactly what some spools have, these are read again, and all their records
 * are copied. Otherwise (parts are from pprof files, or were filtered out) it
 * is made from the model. A copy is
 *
 *   header | records of process 1 | TEXT SYMBOL NAMED ... | NEXT |
 *   records of process 2 | TEXT SYMBOL NAMED ...
 *
 * Names that are in a spool are not copied but written again from the model.
 * The same is done with the kernel's CPU time of all processes (TREE), which
 * comes after the first process.
 *
 * In a spool that is made from the model, processes come one after the other,
 * each with what its own samples refer to:
 *
 *   header | PROCESS COUNTS RATE THREAD ... MODULE NODE NAMED LABEL SAMPLE ...
 *   MARK ... | NEXT | PROCESS COUNTS ...
 *
 * It has one record for each event if events are kept (events.h), else one for
 * each sample. Ids of threads and modules are their numbers in the model. Ids
 * of nodes must be consecutive, so a node is written when a sample first needs
 * it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "model/events.h"
#include "model/naming.h"
#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "util/number.h"
#include "spool_records.h"
#include "output_file.h"

struct spool_copy {
    struct spool_records records;
    uint32_t last_text; /* largest text id of the current process */
};

/* Write the names of all nodes of process NUMBER. Its nodes end where those of
 * the next process begin. */
static int
put_names(struct spool_copy *copy, uint32_t number)
{
    struct spool_records *records = &copy->records;
    struct profile *profile = records->profile;
    uint32_t first = profile->processes[number].first_node;
    uint32_t end = number + 1 < profile->process_count
                       ? profile->processes[number + 1].first_node
                       : profile->node_count;
    if (spool_records_begin_names(records, copy->last_text + 1) == 0)
        for (uint32_t i = first; i < end && !records->failed; i++)
            if (!profile_is_marker(profile, i))
                spool_records_name(records, i, i - first + 1,
                                   naming_own_symbol(profile, i));
    return spool_records_end_names(records);
}

/* Copy the records of one process. Returns whether the record NEXT ended them;
 * *NEXT is then set. */
static bool
copy_process(struct spool_copy *copy, struct reader *reader,
             struct record_next *next)
{
    copy->last_text = 0;
    enum record_kind kind;
    const void *record;
    while ((record = reader_next(reader, &kind)) != NULL) {
        if (kind == RECORD_NEXT) {
            *next = *(const struct record_next *)record;
            return true;
        }
        if (kind == RECORD_SYMBOL || kind == RECORD_NAMED ||
            kind == RECORD_TREE)
            continue;
        if (kind == RECORD_TEXT &&
            ((const struct record_text *)record)->id > copy->last_text &&
            ((const struct record_text *)record)->id < UINT32_MAX / 2)
            copy->last_text = ((const struct record_text *)record)->id;
        spool_records_copy(&copy->records, kind, record);
    }
    return false;
}

/* Copy the spool of process *NUMBER with all its processes. *NUMBER is then the
 * first process of the next spool. Returns 0, or -1 with errno set. */
static int
copy_spool(struct spool_copy *copy, uint32_t *number)
{
    const struct profile *profile = copy->records.profile;
    const char *path = profile->processes[*number].spool;
    struct record_next next = {0};
    char error[512];
    struct reader *reader = reader_open(path, error, sizeof(error));
    bool goes_on = true;
    if (reader == NULL) {
        errno = EIO;
        return -1;
    }
    next.start_monotonic = reader_header(reader)->start_monotonic;
    next.start_realtime = reader_header(reader)->start_realtime;
    next.pid = reader_header(reader)->pid;
    next.machine = reader_header(reader)->machine;
    while (goes_on && *number < profile->process_count &&
           profile->processes[*number].spool == path) {
        if (*number > 0)
            SPOOL_RECORDS_ADD(&copy->records, RECORD_NEXT, next);
        goes_on = copy_process(copy, reader, &next);
        if (put_names(copy, *number) != 0) {
            reader_end(reader);
            errno = ENOMEM;
            return -1;
        }
        if (*number == 0)
            spool_records_tree(&copy->records);
        ++*number;
    }
    reader_end(reader);
    return 0;
}

/* Write the header, which is that of the first process. Returns 0, or -1 with
 * errno set. */
static int
put_header(struct spool_copy *copy)
{
    const struct profile *profile = copy->records.profile;
    char error[512];
    struct reader *reader =
        reader_open(profile->processes[0].spool, error, sizeof(error));
    if (reader == NULL) {
        errno = EIO;
        return -1;
    }
    struct spool_header header = *reader_header(reader);
    reader_end(reader);
    header.header_size = sizeof(header);
    header.purpose = SPOOL_RESULT;
    header.version =
        profile->process_count > 1 ? SPOOL_VERSION_SEVERAL : SPOOL_VERSION;
    spool_records_put(&copy->records, &header, sizeof(header));
    return 0;
}

/* Limit of the bytes of a string: its length has 16 bits. */
enum { STRING_MOST = 16000 };

/* Limit of the bytes of a build-id. */
enum { BUILD_ID_MOST = 64 };

struct spool_remake {
    struct spool_records records;
    uint32_t *order;     /* events or samples, by process */
    size_t *first;       /* of each process in ORDER, and the end */
    uint32_t *ids;       /* of nodes, in the current process; 0: not written */
    uint32_t *path;      /* nodes that are about to be written */
    unsigned char *seen; /* modules of the current process that are written */
    unsigned char *has_label; /* sets that are written */
    uint32_t last_id;         /* of a node */
};

/* The number of items. An item becomes one record: an event if events are kept,
 * else a sample. */
static size_t
item_count(const struct profile *profile)
{
    return profile->keeps_events ? profile->event_count : profile->sample_count;
}

/* The sample of item I. */
static uint32_t
sample_of(const struct profile *profile, size_t i)
{
    return profile->keeps_events ? profile->events[i].sample : (uint32_t)i;
}

static uint32_t
process_of(const struct profile *profile, size_t i)
{
    const struct profile_sample *sample =
        &profile->samples[sample_of(profile, i)];
    return profile->threads[sample->thread].process;
}

/* Sort the items by process; the items of a process keep their order. */
static void
sort_items(struct spool_remake *remake)
{
    const struct profile *profile = remake->records.profile;
    size_t count = item_count(profile), *first = remake->first;
    for (size_t i = 0; i < count; i++)
        first[process_of(profile, i) + 1]++;
    for (uint32_t i = 0; i < profile->process_count; i++)
        first[i + 1] += first[i];
    /* Each FIRST moves to its end, which is the beginning of the next process.
     */
    for (size_t i = 0; i < count; i++)
        remake->order[first[process_of(profile, i)]++] = (uint32_t)i;
    memmove(first + 1, first, profile->process_count * sizeof(*first));
    first[0] = 0;
}

static int
begin_remake(struct spool_remake *remake)
{
    const struct profile *profile = remake->records.profile;
    if (!ARRAY_NEW(remake->order, item_count(profile)) ||
        !ARRAY_NEW(remake->first, profile->process_count + 1u) ||
        !ARRAY_NEW(remake->ids, profile->node_count) ||
        !ARRAY_NEW(remake->path, profile->node_count) ||
        !ARRAY_NEW(remake->seen, profile->module_count) ||
        !ARRAY_NEW(remake->has_label, profile->label_count))
        return -1;
    sort_items(remake);
    return 0;
}

static void
end_remake(struct spool_remake *remake)
{
    free(remake->order);
    free(remake->first);
    free(remake->ids);
    free(remake->path);
    free(remake->seen);
    free(remake->has_label);
}

/* Append TEXT to BUFFER, which has *LENGTH bytes. Returns the length of TEXT
 * with its NUL, 0 if TEXT is empty. */
static uint16_t
add_string(char *buffer, size_t *length, const char *text)
{
    size_t size = strnlen(text, STRING_MOST);
    if (size == 0)
        return 0;
    memcpy(buffer + *length, text, size);
    buffer[*length + size] = '\0';
    *length += size + 1;
    return (uint16_t)(size + 1);
}

static void
put_process(struct spool_remake *remake, const struct profile_process *process)
{
    static char tail[5 * (STRING_MOST + 1)];
    size_t length = 0;
    struct record_process record = {
        .period = process->period,
        .pid = process->pid,
        .ppid = process->ppid,
        .mode = process->is_cpu_only ? OPTION_MODE_CPU : OPTION_MODE_WALL,
    };
    record.exe_length = add_string(tail, &length, process->exe);
    record.command_length = add_string(tail, &length, process->command);
    record.version_length = add_string(tail, &length, process->version);
    record.host_length = add_string(tail, &length, process->host);
    if (record.host_length > 0)
        record.host_length =
            (uint16_t)(record.host_length +
                       add_string(tail, &length, process->boot));
    spool_records_add(&remake->records, RECORD_PROCESS, &record, sizeof(record),
                      tail, length);
}

/* The cost is a sum over all processes, so the first process has it. */
static void
put_counts(struct spool_remake *remake, uint32_t number)
{
    static const struct profile_cost none;
    const struct profile *profile = remake->records.profile;
    const struct profile_cost *cost = number == 0 ? &profile->cost : &none;
    uint64_t tail[(unsigned)LOSS_COUNT + CUT_COUNT + 2];
    struct record_counts record = {
        .time = profile->processes[number].duration,
        .ticks = cost->ticks,
        .asked = cost->asked,
        .taken = cost->taken,
        .parked = cost->parked,
        .kept = cost->kept,
        .peeked = cost->peeked,
        .unsure = cost->unsure,
        .skipped = cost->skipped,
        .rules = cost->rules,
        .process_cpu = cost->process_cpu,
        .sampler_cpu = cost->sampler_cpu,
        .stopped = cost->stopped,
        .loss_count = LOSS_COUNT,
        .cut_count = CUT_COUNT,
    };
    memcpy(tail, cost->lost, sizeof(cost->lost));
    memcpy(tail + LOSS_COUNT, cost->cut, sizeof(cost->cut));
    tail[(unsigned)LOSS_COUNT + CUT_COUNT] = cost->expired;
    tail[(unsigned)LOSS_COUNT + CUT_COUNT + 1] = cost->missed;
    spool_records_add(&remake->records, RECORD_COUNTS, &record, sizeof(record),
                      tail, sizeof(tail));
}

/* Write the rate. If processes had different rates, it is their average. CPU
 * time is rounded up, so that no point is lost. */
static void
put_rate(struct spool_remake *remake)
{
    const struct rate *rate = &remake->records.profile->cost.rate;
    struct record_rate record = {.tick = rate->tick, .count = LIMIT_COUNT};
    uint64_t due = 0;
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        sum_add(&due, rate->due[i]);
    if (rate_wanted(rate) == 0)
        return;
    record.period = (uint64_t)((__uint128_t)rate->cpu * 1000 / due);
    struct rate_entry entries[LIMIT_COUNT];
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        entries[i] = (struct rate_entry){
            .cpu = (rate->due[i] * record.period + 999) / 1000,
            .taken = rate->taken[i],
        };
    spool_records_add(&remake->records, RECORD_RATE, &record, sizeof(record),
                      entries, sizeof(entries));
}

static void
put_thread(struct spool_remake *remake, uint32_t number)
{
    const struct profile_thread *thread =
        &remake->records.profile->threads[number];
    size_t length = strnlen(thread->name, STRING_MOST);
    struct record_thread record = {.id = number + 1,
                                   .tid = thread->tid,
                                   .time = thread->start};
    char name[STRING_MOST + 1];
    memcpy(name, thread->name, length);
    name[length] = '\0';
    record.name_length = (uint16_t)(length + 1);
    spool_records_add(&remake->records, RECORD_THREAD, &record, sizeof(record),
                      name, length + 1);
}

/* The record has no clock: a reader must not scale the samples to it again. */
static void
put_thread_end(struct spool_remake *remake, uint32_t number)
{
    const struct profile_thread *thread =
        &remake->records.profile->threads[number];
    struct record_thread_end record = {.id = number + 1, .time = thread->end};
    if (thread->end != UINT64_MAX)
        SPOOL_RECORDS_ADD(&remake->records, RECORD_THREAD_END, record);
}

/* A build-id is hexadecimal in the model, but bytes in the file. */
static void
put_module(struct spool_remake *remake, uint32_t number)
{
    const struct profile_module *module =
        &remake->records.profile->modules[number];
    struct record_module record = {.id = number,
                                   .base = module->base,
                                   .start = module->start,
                                   .end = module->end,
                                   .flags = module->flags};
    char tail[BUILD_ID_MOST + STRING_MOST + 1];
    size_t length =
        number_bytes(module->build_id, (uint8_t *)tail, BUILD_ID_MOST);
    record.build_id_length = (uint16_t)length;
    size_t path = length;
    record.path_length = add_string(tail, &length, module->path);
    spool_records_add(&remake->records, RECORD_MODULE, &record, sizeof(record),
                      tail, path + record.path_length);
}

/* Write NODE, whose parent is written already. Its name is the one that is
 * shown: a reader of the file does not fold its stacks again. */
static void
put_node(struct spool_remake *remake, uint32_t node)
{
    struct profile *profile = remake->records.profile;
    const struct profile_node *from = &profile->nodes[node];
    struct record_node record = {.id = ++remake->last_id,
                                 .parent = remake->ids[from->parent],
                                 .module = from->module,
                                 .flags = from->flags,
                                 .offset = from->offset};
    /* The loop is already left out: frames below a function are not the
     * loop. */
    if (profile_is_script(profile, node) &&
        (!profile->shows_native || from->is_settled))
        record.flags |= NODE_UNPLACED;
    if (from->module != 0 && !remake->seen[from->module])
        put_module(remake, from->module);
    remake->seen[from->module] = 1;
    remake->ids[node] = record.id;
    SPOOL_RECORDS_ADD(&remake->records, RECORD_NODE, record);
    if (!profile_is_marker(profile, node))
        spool_records_name(&remake->records, node, record.id,
                           naming_symbol(profile, node));
}

/* Write the stack that ends with LEAF. Returns its id, 0 if no stack is known.
 */
static uint32_t
put_stack(struct spool_remake *remake, uint32_t leaf)
{
    const struct profile_node *nodes = remake->records.profile->nodes;
    size_t length = 0;
    if (leaf == PROFILE_NO_STACK || leaf == PROFILE_NOT_SAMPLED)
        return 0;
    for (uint32_t at = leaf; at != 0 && remake->ids[at] == 0;
         at = nodes[at].parent)
        remake->path[length++] = at;
    while (length > 0)
        put_node(remake, remake->path[--length]);
    return remake->ids[leaf];
}

/* Write the labels of SET that are not written yet, and return SET, which is
 * the id. So a parent has a smaller id in the file, too. A number of a pprof
 * file becomes a text with its unit after it. */
static uint32_t
put_labels(struct spool_remake *remake, uint32_t set)
{
    struct spool_records *records = &remake->records;
    struct record_label record = {.id = set};
    if (set == 0 || remake->has_label[set])
        return set;
    const struct profile_label *label = &records->profile->labels[set - 1];
    remake->has_label[set] = 1;
    record.parent = put_labels(remake, label->parent);
    record.key = spool_records_text(records, label->key);
    char text[128];
    snprintf(text, sizeof(text), "%s %s", label->value,
             label->unit != NULL ? label->unit : "");
    record.value = spool_records_text(records, label->unit != NULL &&
                                                       label->unit[0] != '\0'
                                                   ? text
                                                   : label->value);
    SPOOL_RECORDS_ADD(records, RECORD_LABEL, record);
    return set;
}

static void
put_mark(struct spool_remake *remake, const struct profile_mark *mark)
{
    size_t length = strnlen(mark->name, STRING_MOST);
    struct record_mark record = {
        .time = mark->time,
        .duration = mark->duration,
        .mark = mark->kind,
        .thread = mark->thread != PROFILE_NO_THREAD ? mark->thread + 1 : 0,
        .label = put_labels(remake, mark->labels),
        .text_length = (uint16_t)(length + 1),
    };
    char name[STRING_MOST + 1];
    memcpy(name, mark->name, length);
    name[length] = '\0';
    spool_records_add(&remake->records, RECORD_MARK, &record, sizeof(record),
                      name, length + 1);
}

static void
put_sample(struct spool_remake *remake, size_t item)
{
    struct spool_records *records = &remake->records;
    const struct profile *profile = records->profile;
    const struct profile_sample *sample =
        &profile->samples[sample_of(profile, item)];
    struct record_sample record = {
        .thread = sample->thread + 1,
        .system_call = sample->system_call,
        .state = (uint8_t)sample->state,
        .trigger = TRIGGER_NONE,
        .flags = SAMPLE_SUMMED,
        .count = sample->values[VALUE_SAMPLES],
        .cpu = sample->values[VALUE_CPU],
        .wall = sample->values[VALUE_WALL],
    };
    if (profile->keeps_events) {
        const struct profile_event *event = &profile->events[item];
        record.time = event->time;
        record.duration = event->duration;
        record.count = event->count;
        record.cpu = event->cpu;
        record.wall = event->wall;
    }
    if (profile->has_no_times || !profile->keeps_events)
        record.flags |= SAMPLE_UNTIMED;
    if (sample->node == PROFILE_NOT_SAMPLED)
        record.flags |= SAMPLE_NOT_SAMPLED;
    if (sample->is_gpu_wait)
        record.flags |= SAMPLE_GPU_WAIT;
    record.node = put_stack(remake, sample->node);
    record.waits_on = spool_records_text(records, sample->waits_on);
    record.label = put_labels(remake, sample->labels);
    SPOOL_RECORDS_ADD(records, RECORD_SAMPLE, record);
}

/* Write everything of process NUMBER. Returns 0, or -1 if memory is short. */
static int
put_all(struct spool_remake *remake, uint32_t number)
{
    struct spool_records *records = &remake->records;
    struct profile *profile = records->profile;
    struct record_summary summary = {.time =
                                         profile->processes[number].duration};
    memset(remake->ids, 0, profile->node_count * sizeof(*remake->ids));
    memset(remake->seen, 0, profile->module_count);
    memset(remake->has_label, 0, profile->label_count + 1u);
    remake->last_id = 0;
    if (spool_records_begin_names(records, 1) == 0) {
        put_process(remake, &profile->processes[number]);
        put_counts(remake, number);
        if (number == 0) {
            put_rate(remake);
            spool_records_tree(records);
        }
        for (uint32_t i = 0; i < profile->thread_count; i++)
            if (profile->threads[i].process == number)
                put_thread(remake, i);
        for (size_t i = remake->first[number]; i < remake->first[number + 1];
             i++)
            put_sample(remake, remake->order[i]);
        for (size_t i = 0; i < profile->timed_mark_count; i++)
            if (profile->timed_marks[i].process == number)
                put_mark(remake, &profile->timed_marks[i]);
        for (uint32_t i = 0; i < profile->thread_count; i++)
            if (profile->threads[i].process == number)
                put_thread_end(remake, i);
        if (profile->processes[number].ended)
            SPOOL_RECORDS_ADD(records, RECORD_SUMMARY, summary);
    }
    return spool_records_end_names(records);
}

/* Write the header for the first process, NEXT for the others. */
static void
put_beginning(struct spool_remake *remake, uint32_t number)
{
    const struct profile *profile = remake->records.profile;
    const struct profile_process *process = &profile->processes[number];
    struct spool_header header = {
        .version =
            profile->process_count > 1 ? SPOOL_VERSION_SEVERAL : SPOOL_VERSION,
        .header_size = sizeof(header),
        .start_realtime = process->start,
        .pid = process->pid,
        .machine = process->machine,
        .purpose = SPOOL_RESULT,
    };
    struct record_next next = {.start_realtime = process->start,
                               .pid = process->pid,
                               .machine = process->machine};
    memcpy(header.magic, SPOOL_MAGIC, sizeof(header.magic));
    if (number == 0)
        spool_records_put(&remake->records, &header, sizeof(header));
    else
        SPOOL_RECORDS_ADD(&remake->records, RECORD_NEXT, next);
}

/* Write PROFILE as a spool that is made from the model. A profile that is read
 * from it has the same sums, stacks, names, threads, losses and cost. It does
 * not have the triggers of samples and the threads' own clocks. Returns 0, or
 * -1 with errno set. */
static int
remake(FILE *stream, struct profile *profile)
{
    struct spool_remake remake = {
        .records = {.stream = stream, .profile = profile}};
    int status = begin_remake(&remake);
    for (uint32_t i = 0; status == 0 && i < profile->process_count; i++) {
        put_beginning(&remake, i);
        status = put_all(&remake, i);
    }
    spool_records_whole(&remake.records);
    end_remake(&remake);
    if (status != 0)
        errno = ENOMEM;
    return status != 0 || ferror(stream) != 0 ? -1 : 0;
}

/* Whether PROFILE is exactly the contents of some spools. The spool of a flight
 * recorder does not count: if the process runs, the file has changed. A spool
 * whose samples got other nodes by their times does not count, either. */
static bool
is_whole(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].spool == NULL ||
            profile->processes[i].keep != 0 ||
            profile->processes[i].has_variants)
            return false;
    return profile->process_count > 0 && profile->filter == NULL;
}

int
spool_copy_write(FILE *stream, struct profile *profile)
{
    struct spool_copy copy = {
        .records = {.stream = stream, .profile = profile}};
    if (!is_whole(profile))
        return remake(stream, profile);
    if (put_header(&copy) != 0)
        return -1;
    for (uint32_t i = 0; i < profile->process_count;)
        if (copy_spool(&copy, &i) != 0)
            return -1;
    spool_records_whole(&copy.records);
    return ferror(stream) == 0 ? 0 : -1;
}
