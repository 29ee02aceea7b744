/* SPDX-License-Identifier: MIT */
/*
 * spool.c -- turns the records of a spool into the model. The reader has
 * checked the lengths; here the meaning is checked. A spool may be damaged or
 * made by any program. So every reference is looked up, and a record with a
 * reference to nothing is left out and counted.
 */
#include <errno.h>
#include <stdio.h>

#include "base/options.h"
#include "base/proc.h"
#include "model/events.h"
#include "model/label_sets.h"
#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "util/intern.h"
#include "spool_load.h"
#include "agree.h"
#include "epochs.h"
#include "generated.h"
#include "join.h"
#include "weigh.h"
#include "spool.h"

/* NO_TEXT: number of the string "". */
#define NO_TEXT 0u

/* A process has one record of this kind, so a second one is damage. If the
 * first was lost, earlier samples keep the header's pid. */
static enum outcome
add_process(struct spool_load *load, const void *bytes)
{
    const struct record_process *record = bytes;
    struct profile *profile = load->profile;
    struct profile_process *process = &profile->processes[load->process];
    if (load->has_process)
        return SENSELESS;
    load->has_process = true;
    process->pid = record->pid;
    process->ppid = record->ppid;
    process->period = record->period < INT64_MAX ? record->period : 0;
    process->is_cpu_only = record->mode == OPTION_MODE_CPU;
    process->exe = profile_string(profile, record_exe(record));
    process->command = profile_string(profile, record_command(record));
    process->version = profile_string(profile, record_version(record));
    process->host = profile_string(profile, record_host(record));
    process->boot = profile_string(profile, record_boot(record));
    if (process->exe == NULL || process->command == NULL ||
        process->version == NULL || process->host == NULL ||
        process->boot == NULL)
        return FAILED;
    process->is_foreign = load->is_foreign =
        !load->is_here && spool_load_is_foreign(process->host, process->boot);
    /* No process here has its pid. */
    if (load->is_foreign)
        load->pid = 0;
    return USED;
}

/* Remember how long a visit of the handler took. All are kept, because the
 * commands show percentiles, and four bytes a sample are little. */
static int
add_stopped(struct profile *profile, uint32_t stopped)
{
    if (!ARRAY_GROW(profile->stopped, profile->stopped_count))
        return -1;
    profile->stopped[profile->stopped_count++] = stopped;
    return 0;
}

/* The points of a record beyond its first were answered without a signal. Times
 * are summed over threads and in total when they are final (spool_load_sum). */
static void
sum_sample(struct profile *profile, const struct record_sample *record,
           struct profile_sample *sample)
{
    uint64_t first = record->count > 0;
    sum_add(&sample->values[VALUE_SAMPLES], record->count);
    sum_add(&sample->values[VALUE_CPU], record->cpu);
    sum_add(&sample->values[VALUE_WALL], record->wall);
    sample->squares += events_square(record->cpu, record->count);
    if ((record->flags & SAMPLE_SUMMED) == 0) {
        sum_add(&profile->triggers[record->trigger], first);
        sum_add(&profile->triggers[TRIGGER_KEPT], record->count - first);
    }
    sum_add(&profile->states[record->state], record->count);
}

/* The node of a sample without a stack. */
static uint32_t
no_stack(const struct record_sample *record)
{
    return (record->flags & SAMPLE_NOT_SAMPLED) != 0 ? PROFILE_NOT_SAMPLED
                                                     : PROFILE_NO_STACK;
}

/* PREFIX: what a key of the program begins with if it is also a key of our own
 * labels. So all outputs agree. */
#define PREFIX "program."

/* The profile's set for the label ID of a record, 0 for 0. INTERN_NONE if the
 * spool has not defined ID. */
static uint32_t
label_set(const struct spool_load *load, uint32_t id)
{
    return id == 0 ? 0 : spool_load_number(&load->labels, id);
}

/* KEY as outputs show it; NULL if memory is short. */
static const char *
shown_key(struct profile *profile, const char *key)
{
    if (!label_sets_is_reserved(key))
        return key;
    char longer[64];
    snprintf(longer, sizeof(longer), PREFIX "%s", key);
    return profile_string(profile, longer);
}

/* Collect in PAIRS the labels of PARENT except KEY, whose value there is
 * replaced. Returns their number. */
static unsigned
labels_without(const struct profile *profile, uint32_t parent, const char *key,
               struct label_pair *pairs)
{
    struct label_pair all[LABEL_SETS_DEPTH];
    unsigned count = label_sets_get(profile, parent, all), kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (all[i].key != key)
            pairs[kept++] = all[i];
    return kept;
}

static enum outcome
add_label(struct spool_load *load, const void *bytes)
{
    const struct record_label *record = bytes;
    struct profile *profile = load->profile;
    const char *key = spool_load_text(load, record->key);
    const char *value = spool_load_text(load, record->value);
    uint32_t parent = label_set(load, record->parent);
    if (record->id == 0 || record->parent >= record->id || key == NULL ||
        value == NULL || key[0] == '\0' || parent == INTERN_NONE ||
        spool_load_number(&load->labels, record->id) != INTERN_NONE)
        return SENSELESS;
    key = shown_key(profile, key);
    if (key == NULL)
        return FAILED;
    struct label_pair pairs[LABEL_SETS_DEPTH + 1];
    unsigned count = labels_without(profile, parent, key, pairs);
    if (count >= LABEL_SETS_DEPTH)
        return SENSELESS;
    pairs[count] = (struct label_pair){.key = key, .value = value};
    uint32_t set = label_sets_put(profile, pairs, count + 1);
    if (set == INTERN_NONE ||
        spool_load_define(&load->labels, record->id, set) != 0)
        return FAILED;
    return USED;
}

static enum outcome
add_mark(struct spool_load *load, const void *bytes)
{
    const struct record_mark *record = bytes;
    struct profile *profile = load->profile;
    uint32_t labels = label_set(load, record->label);
    uint32_t thread = PROFILE_NO_THREAD;
    if (record->thread != 0)
        thread = spool_load_number(&load->threads, record->thread);
    if ((record->thread != 0 && thread == INTERN_NONE) ||
        labels == INTERN_NONE || record->mark > MARK_SPAN ||
        record->time > INT64_MAX || record->duration > INT64_MAX)
        return SENSELESS;
    if (!ARRAY_GROW(profile->timed_marks, profile->timed_mark_count))
        return FAILED;
    struct profile_mark *marks = profile->timed_marks;
    marks += profile->timed_mark_count;
    *marks = (struct profile_mark){
        .time = record->time,
        .duration = record->duration,
        .process = load->process,
        .thread = thread,
        .labels = labels,
        .kind = record->mark,
        .name = profile_string(profile, record_text(record)),
    };
    if (marks->name == NULL)
        return FAILED;
    profile->timed_mark_count++;
    spool_load_see_time(load, record->time, record->duration);
    return USED;
}

bool
spool_find_key(struct spool_load *load, const struct record_sample *record,
               struct profile_sample *key)
{
    const struct profile *profile = load->profile;
    uint32_t text = NO_TEXT;
    *key = (struct profile_sample){
        .thread = spool_load_number(&load->threads, record->thread),
        .node = record->node != 0 ? spool_load_node(load, record->node)
                                  : no_stack(record),
        .system_call = SYSCALL_UNKNOWN,
        .state = record->state,
        .is_measured = record->trigger == TRIGGER_HOOK,
        .is_gpu_wait = (record->flags & SAMPLE_GPU_WAIT) != 0,
        .labels = label_set(load, record->label),
    };
    if (record->waits_on != 0)
        text = spool_load_number(&load->texts, record->waits_on);
    if (key->thread == INTERN_NONE || key->labels == INTERN_NONE ||
        key->node == INTERN_NONE || text == INTERN_NONE ||
        record->state >= STATE_COUNT || record->trigger >= TRIGGER_COUNT)
        return false;
    if (record->state == STATE_WAITING)
        key->system_call = record->system_call;
    else
        text = NO_TEXT;
    if (record->state == STATE_RUNNING)
        key->epoch = epochs_at(load, record->time);
    key->node = generated_node(load, key->node, record->time);
    key->waits_on = intern_bytes(profile->strings, text);
    return true;
}

/*
 * A wait that was not over when its record was last written. It reaches to the
 * last tick, or to the end of its thread if that came first. Both may come
 * after the record in the spool. So such waits are noted, and extended after
 * the spool was read: a thread that waits for an hour costs the recorder only
 * the record with which the wait began. Usually each thread has at most one,
 * its last.
 */
struct open_wait {
    uint32_t sample;  /* sample of its record */
    uint64_t reached; /* ns, the end of its record */
    size_t event;     /* event of the record, if events are kept */
};

/* Note RECORD if it is an open wait. It was summed up in SAMPLE and is the last
 * event. A running thread has no open end, whatever a damaged record says.
 * Returns 0, or -1 if memory is short. */
static int
note_wait(struct spool_load *load, const struct record_sample *record,
          const struct profile_sample *sample)
{
    uint64_t reached = record->time;
    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return 0;
    if (!ARRAY_GROW(load->waits, load->wait_count))
        return -1;
    sum_add(&reached, record->duration);
    load->waits[load->wait_count++] = (struct open_wait){
        .sample = (uint32_t)(sample - load->profile->samples),
        .reached = reached,
        .event = load->profile->event_count - 1,
    };
    return 0;
}

/* The added points count as answered without a signal, like those of a wait
 * that ended. */
static void
extend_wait(struct profile *profile, const struct open_wait *wait,
            uint64_t wall)
{
    struct profile_sample *sample = &profile->samples[wait->sample];
    uint32_t process = profile->threads[sample->thread].process;
    uint64_t period = profile->processes[process].period;
    uint64_t count = period > 0 ? wall / period : 0;
    sum_add(&sample->values[VALUE_WALL], wall);
    sum_add(&sample->values[VALUE_SAMPLES], count);
    sum_add(&profile->triggers[TRIGGER_KEPT], count);
    sum_add(&profile->states[sample->state], count);
    events_extend(profile, wait->event, wall, count);
}

/* Extend every wait that was noted. Its sample gets the wall time, and a sample
 * point for each full period. A live spool that was read from its beginning may
 * have an earlier last tick. A wait that was noted since then stays as it is.
 */
static void
extend_waits(struct spool_load *load)
{
    struct profile *profile = load->profile;
    for (uint32_t i = 0; i < load->wait_count; i++) {
        const struct open_wait *wait = &load->waits[i];
        uint32_t thread = profile->samples[wait->sample].thread;
        uint64_t limit = profile->threads[thread].end;
        if (limit > load->last_tick)
            limit = load->last_tick;
        if (limit > wait->reached)
            extend_wait(profile, wait, limit - wait->reached);
    }
}

/* Such CPU time has no stack; weigh.c decides which samples show it. */
bool
spool_is_unsampled(const struct record_sample *record)
{
    return record->trigger == TRIGGER_NONE && record->node == 0 &&
           record->count == 0 && (record->flags & SAMPLE_SUMMED) == 0;
}

/* All references of a sample are checked before anything is summed, so that a
 * record counts in all sums or in none. */
static enum outcome
add_sample(struct spool_load *load, const void *bytes)
{
    const struct record_sample *record = bytes;
    struct profile *profile = load->profile;
    struct profile_sample key;
    if (!spool_find_key(load, record, &key))
        return SENSELESS;
    spool_load_see_time(load, record->time, record->duration);
    spool_load_see_alive(load, key.thread, record->time);
    profile->has_no_times |= (record->flags & SAMPLE_UNTIMED) != 0;
    if (spool_is_unsampled(record))
        return weigh_note_unsampled(load, record, key.thread) != 0 ? FAILED
                                                                   : USED;
    struct profile_sample *sample = spool_load_sample(load, &key);
    if (sample == NULL || weigh_note(load, record, sample) != 0 ||
        (record->stopped > 0 && add_stopped(profile, record->stopped) != 0) ||
        events_add(profile, record, sample) != 0)
        return FAILED;
    sum_sample(profile, record, sample);
    return note_wait(load, record, sample) != 0 ? FAILED : USED;
}

/* Counters are of the whole run, so the last of several records counts. */
static enum outcome
take_counts(struct spool_load *load, const void *bytes)
{
    const struct record_counts *counts = bytes;
    struct profile_cost *cost = &load->cost;
    *cost = (struct profile_cost){
        .ticks = counts->ticks,
        .asked = counts->asked,
        .taken = counts->taken,
        .parked = counts->parked,
        .kept = counts->kept,
        .peeked = counts->peeked,
        .unsure = counts->unsure,
        .skipped = counts->skipped,
        .rules = counts->rules,
        .process_cpu = counts->process_cpu,
        .sampler_cpu = counts->sampler_cpu,
        .stopped = counts->stopped,
        .expired = record_expired(counts),
        .missed = record_missed(counts),
        .rate = cost->rate,
        .tree_cpu = cost->tree_cpu,
        .unseen_cpu = cost->unseen_cpu,
    };
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        cost->lost[i] = record_lost(counts, i);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        cost->cut[i] = record_cut(counts, i);
    load->last_tick = counts->time < INT64_MAX ? counts->time : 0;
    spool_load_see_time(load, counts->time, 0);
    return USED;
}

/* Rates are of the whole run, too. */
static enum outcome
take_rate(struct spool_load *load, const void *bytes)
{
    const struct record_rate *record = bytes;
    struct rate rate = {.tick = record->tick};
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        struct rate_entry entry = record_rated(record, i);
        rate_add(&rate, (enum limit)i, entry.cpu, record->period, entry.taken);
    }
    load->cost.rate = rate;
    return USED;
}

static enum outcome
take_tree(struct spool_load *load, const void *bytes)
{
    const struct record_tree *record = bytes;
    if (record->unseen > record->cpu || record->cpu > INT64_MAX)
        return SENSELESS;
    load->cost.tree_cpu = record->cpu;
    load->cost.unseen_cpu = record->unseen;
    return USED;
}

static enum outcome
add_script(struct spool_load *load, const void *bytes)
{
    int result = spool_script_add(&load->scripts, load->profile, bytes);
    return result == 0 ? USED : result > 0 ? SENSELESS : FAILED;
}

/* Its presence says that the library saw the process end. */
static enum outcome
add_summary(struct spool_load *load, const void *bytes)
{
    const struct record_summary *record = bytes;
    load->profile->processes[load->process].ended = true;
    spool_load_see_time(load, record->time, 0);
    return USED;
}

/* Records of these kinds are valid, but the model does not use them yet. */
static enum outcome
use_nothing(struct spool_load *load, const void *bytes)
{
    (void)load;
    (void)bytes;
    return USED;
}

/* The function for each kind of record. */
static enum outcome (*const actions[RECORD_KIND_COUNT])(struct spool_load *,
                                                        const void *) = {
    [RECORD_PROCESS] = add_process,
    [RECORD_MODULE] = spool_load_add_module,
    [RECORD_MODULE_END] = use_nothing,
    [RECORD_THREAD] = spool_load_add_thread,
    [RECORD_THREAD_END] = spool_load_end_thread,
    [RECORD_NODE] = spool_load_add_node,
    [RECORD_SAMPLE] = add_sample,
    [RECORD_COUNTS] = take_counts,
    [RECORD_MARK] = add_mark,
    [RECORD_SUMMARY] = add_summary,
    [RECORD_TEXT] = spool_load_add_text,
    [RECORD_SYMBOL] = spool_load_add_symbol,
    [RECORD_NAMED] = spool_load_name_node,
    [RECORD_LABEL] = add_label,
    [RECORD_CONTROL] = use_nothing,
    [RECORD_ANSWER] = use_nothing,
    [RECORD_STACKS] = use_nothing,
    [RECORD_RATE] = take_rate,
    [RECORD_TREE] = take_tree,
    [RECORD_EPOCH] = epochs_add,
    [RECORD_CLOCK] = epochs_add_clock,
    [RECORD_JITDUMP] = generated_add,
    [RECORD_SCRIPT] = add_script,
    [RECORD_LIVE] = spool_load_see_clock,
    [RECORD_FILE] = spool_load_see_file,
};

/* A time beyond the range of signed numbers is damage and becomes 0. */
int
spool_begin(struct spool_load *load, const struct spool_header *header)
{
    struct profile *profile = load->profile;
    uint64_t begin = header->begin < INT64_MAX / 2 ? header->begin : 0;
    if (!ARRAY_GROW(profile->processes, profile->process_count))
        return -1;
    profile->processes[profile->process_count] = (struct profile_process){
        .pid = header->pid,
        .machine = header->machine,
        .first_node = profile->node_count,
        .start =
            header->start_realtime < INT64_MAX / 2 ? header->start_realtime : 0,
        .exe = "",
        .command = "",
        .version = "",
        .host = "",
        .boot = "",
        .keep = header->keep,
        .monotonic = header->start_monotonic,
        .begin = begin,
        .last_begin = begin,
    };
    load->number = ++profile->loads;
    load->process = profile->process_count++;
    load->pid = profile->next_pid;
    load->is_here = load->pid != 0;
    if (load->pid == 0 && (header->pid_namespace == 0 ||
                           header->pid_namespace == proc_namespace()))
        load->pid = header->pid;
    load->is_result = header->purpose == SPOOL_RESULT;
    load->first_thread = profile->thread_count;
    load->first_sample = profile->sample_count;
    load->first_event = profile->event_count;
    load->first_epoch = profile->epoch_count;
    return 0;
}

enum outcome
spool_take(struct spool_load *load, enum record_kind kind, const void *record)
{
    if ((unsigned)kind >= RECORD_KIND_COUNT || actions[kind] == NULL)
        return USED;
    enum outcome outcome = actions[kind](load, record);
    load->profile->records += outcome == USED;
    load->profile->problems += outcome == SENSELESS;
    return outcome;
}

/* Read one process, up to the end or to the record where the next process
 * begins. In that case HEADER becomes its header and *AGAIN is set. Returns 0,
 * or -1 if memory is short. */
static int
add_process_records(struct profile *profile, struct reader *reader,
                    struct spool_header *header, bool *again)
{
    struct spool_load load = {.profile = profile};
    enum outcome outcome = USED;
    const void *record;

    *again = false;
    if (spool_begin(&load, header) != 0) {
        spool_load_release(&load);
        return -1;
    }
    enum record_kind kind;
    while (outcome != FAILED && !*again &&
           (record = reader_next(reader, &kind)) != NULL) {
        if (kind == RECORD_NEXT) {
            const struct record_next *next = record;
            header->start_monotonic = next->start_monotonic;
            header->start_realtime = next->start_realtime;
            header->pid = next->pid;
            header->machine = next->machine;
            header->keep = header->begin = 0;
            *again = true;
        }
        outcome = spool_take(&load, kind, record);
    }
    /* The end of a wait, and the clock that gives a weight, may stand after
     * the sample in the spool. */
    extend_waits(&load);
    if (weigh_samples(&load) != 0 ||
        events_weigh(load.profile, load.first_sample, load.first_event) != 0)
        outcome = FAILED;
    agree_check(&load);
    if (join_spools(&load) != 0)
        outcome = FAILED;
    spool_load_sum(&load);
    spool_load_release(&load);
    return outcome == FAILED ? -1 : 0;
}

int
spool_add(struct profile *profile, struct reader *reader)
{
    struct spool_header header = *reader_header(reader);
    bool again = true;
    while (again)
        if (add_process_records(profile, reader, &header, &again) != 0) {
            errno = ENOMEM;
            return -1;
        }
    return 0;
}
