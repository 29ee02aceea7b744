/* SPDX-License-Identifier: MIT */
/*
 * stacks.c -- see stacks.h. The record is changed in place, and a running
 * process may be writing it. A copy is good if the record's sequence was even
 * before it was read and is the same afterwards. The process writes everything
 * that the entries refer to before the sequence becomes even. This may lie
 * after the place that the reader has reached. So the rest of the spool is read
 * after the record, not before.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "model/folding.h"
#include "model/gpu_wait.h"
#include "model/naming.h"
#include "model/sample_state.h"
#include "model/system_call.h"
#include "read/generated.h"
#include "read/spool.h"
#include "read/spool_load.h"
#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "util/intern.h"
#include "view/filter.h"
#include "stacks.h"

/* How often a record that is being written is read, and the pause between two
 * attempts, 10 ms. */
enum { ATTEMPTS = 200 };
static const struct timespec pause_between = {.tv_nsec = 10000000};

const struct profile_process *
stacks_process(const struct stacks *stacks)
{
    return &stacks->profile->processes[stacks->load->process];
}

/* The text ID, NULL if the spool has not defined it. */
static const char *
text_of(const struct stacks *stacks, uint32_t id)
{
    uint32_t string = spool_load_number(&stacks->load->texts, id);
    return string == INTERN_NONE
               ? NULL
               : intern_bytes(stacks->profile->strings, string);
}

/* The number of the set of labels with this ID in the spool, 0 if the spool has
 * not defined it. */
static uint32_t
label_set(const struct stacks_labels *labels, uint32_t id)
{
    uint32_t number = INTERN_NONE;
    if (labels->ids != NULL && id != 0)
        number = intern_find(labels->ids, &id, sizeof(id));
    return number == INTERN_NONE ? 0 : number + 1;
}

/* A record is left out if its id was defined before, or if it refers to
 * something that does not exist. A parent has a smaller number than its child.
 * So every chain ends, whatever the spool contains. */
static int
take_label(struct stacks *stacks, const struct record_label *record)
{
    struct stacks_labels *labels = &stacks->labels;
    const struct stacks_label label = {
        .parent = label_set(labels, record->parent),
        .key = text_of(stacks, record->key),
        .value = text_of(stacks, record->value),
    };
    if (labels->ids == NULL)
        labels->ids = intern_new();
    if (labels->ids == NULL)
        return -1;
    if (record->id == 0 || label.key == NULL || label.value == NULL ||
        (record->parent != 0 && label.parent == 0) ||
        label_set(labels, record->id) != 0)
        return 0;
    if (!ARRAY_GROW(labels->all, labels->count))
        return -1;
    if (intern_put(labels->ids, &record->id, sizeof(record->id)) == INTERN_NONE)
        return -1;
    labels->all[labels->count++] = label;
    return 0;
}

static bool
has_key(const struct stacks_label *const *list, unsigned count, const char *key)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i]->key, key) == 0)
            return true;
    return false;
}

/* The chain begins with the latest label. The list is reversed, because readers
 * want the order in which the labels were set. */
unsigned
stacks_label_list(const struct stacks_labels *labels, uint32_t set,
                  const struct stacks_label *list[STACKS_LABELS_MOST])
{
    unsigned count = 0;
    for (; set != 0 && count < STACKS_LABELS_MOST;
         set = labels->all[set - 1].parent)
        if (!has_key(list, count, labels->all[set - 1].key))
            list[count++] = &labels->all[set - 1];
    for (unsigned i = 0; i < count / 2; i++) {
        const struct stacks_label *other = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = other;
    }
    return count;
}

static void
release_labels(struct stacks_labels *labels)
{
    intern_free(labels->ids);
    free(labels->all);
    *labels = (struct stacks_labels){.count = 0};
}

/* Begin with another process, whose ids start again. */
static int
begin_process(struct stacks *stacks, const struct spool_header *header)
{
    if (stacks->load != NULL)
        spool_load_release(stacks->load);
    free(stacks->load);
    release_labels(&stacks->labels);
    stacks->load = calloc(1, sizeof(*stacks->load));
    if (stacks->load == NULL)
        return -1;
    stacks->load->profile = stacks->profile;
    return spool_begin(stacks->load, header);
}

/* The same as spool.c does for files of several processes. */
static int
begin_next(struct stacks *stacks, const struct record_next *next)
{
    struct spool_header header = *reader_header(stacks->reader);
    header.start_monotonic = next->start_monotonic;
    header.start_realtime = next->start_realtime;
    header.pid = next->pid;
    header.machine = next->machine;
    return begin_process(stacks, &header);
}

/* Take one record. Most records are samples, which are not used here. */
static int
take_record(struct stacks *stacks, enum record_kind kind, const void *record)
{
    switch (kind) {
    case RECORD_SAMPLE:
        return 0;
    case RECORD_STACKS:
        stacks->place = reader_offset(stacks->reader) -
                        record_size_of(*(const uint64_t *)record);
        return 0;
    case RECORD_LABEL:
        return take_label(stacks, record);
    case RECORD_NEXT:
        return begin_next(stacks, record);
    default:
        return spool_take(stacks->load, kind, record) == FAILED ? -1 : 0;
    }
}

/* Read what was written since the last call. In a file of several processes the
 * first one that has stacks is used. */
static int
take_rest(struct stacks *stacks)
{
    uint64_t before = reader_offset(stacks->reader);
    enum record_kind kind;
    const void *record;
    while ((record = reader_next(stacks->reader, &kind)) != NULL) {
        if (kind == RECORD_NEXT && stacks->place != 0) {
            reader_go(stacks->reader, before);
            return 0;
        }
        if (take_record(stacks, kind, record) != 0)
            return -1;
        before = reader_offset(stacks->reader);
    }
    return 0;
}

/* The record as the file has it now, NULL if it cannot be read. */
static const struct record_stacks *
record_now(struct stacks *stacks)
{
    reader_go(stacks->reader, stacks->place);
    enum record_kind kind;
    const void *record = reader_next(stacks->reader, &kind);
    return record != NULL && kind == RECORD_STACKS ? record : NULL;
}

/* The sequence of the record. It is 0 if no stacks were ever written, or if the
 * record has disappeared. */
static uint64_t
sequence_now(struct stacks *stacks)
{
    const struct record_stacks *record = record_now(stacks);
    return record != NULL ? record->sequence : 0;
}

/* A copy of the whole record, which the caller frees. NULL with errno set:
 * EAGAIN if the record is being written, ENODATA if it never was. */
static struct record_stacks *
copy_once(struct stacks *stacks)
{
    uint64_t sequence = sequence_now(stacks);
    errno = sequence == 0 ? ENODATA : EAGAIN;
    if (sequence == 0 || sequence % 2 != 0)
        return NULL;
    const struct record_stacks *record = record_now(stacks);
    if (record == NULL)
        return NULL;
    size_t size = record_size_of(record->head);
    struct record_stacks *copy = malloc(size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, record, size);
    if (sequence_now(stacks) == sequence)
        return copy;
    free(copy);
    errno = EAGAIN;
    return NULL;
}

/* The same after at most ATTEMPTS attempts. The reader stays where it was. */
static struct record_stacks *
copy_record(struct stacks *stacks)
{
    uint64_t offset = reader_offset(stacks->reader);
    struct record_stacks *copy;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (i > 0)
            nanosleep(&pause_between, NULL);
        copy = copy_once(stacks);
        if (copy != NULL || errno != EAGAIN || stacks->is_memory)
            break;
    }
    int problem = errno;
    reader_go(stacks->reader, offset);
    errno = problem;
    return copy;
}

/* What ENTRY waits in, in the words for the states of samples. */
static const char *
name_wait(struct stacks *stacks, const struct stacks_entry *entry,
          bool is_gpu_wait)
{
    if (is_gpu_wait)
        return SAMPLE_STATE_GPU;
    if (entry->system_call == SYSCALL_UNKNOWN)
        return "waiting";
    const char *name =
        system_call_name(stacks_process(stacks)->machine, entry->system_call);
    if (name != NULL)
        return name;
    char text[32];
    snprintf(text, sizeof(text), "system call %u", entry->system_call);
    name = profile_string(stacks->profile, text);
    return name != NULL ? name : "waiting";
}

/* The activity of a thread, in the words for the states of samples. */
static const char *
doing_of(struct stacks *stacks, const struct stacks_entry *entry,
         bool is_gpu_wait)
{
    switch (entry->state) {
    case 'R':
        return is_gpu_wait ? SAMPLE_STATE_SPINS : "running";
    case 'S':
    case 'D':
    case 'I':
        return name_wait(stacks, entry, is_gpu_wait);
    case 'T':
        return "stopped";
    case 't':
        return "traced";
    case 'X':
    case 'Z':
        return "ended";
    default:
        return "unknown";
    }
}

/* Take ENTRY, of TIME as in a record. It may refer to something that does not
 * exist; the field is then unknown. */
static void
take_entry(struct stacks *stacks, const struct stacks_entry *entry,
           uint64_t time, struct stacks_thread *thread)
{
    struct profile *profile = stacks->profile;
    uint32_t number = spool_load_number(&stacks->load->threads, entry->thread);
    uint32_t node = spool_load_node(stacks->load, entry->node);
    node = node != INTERN_NONE ? generated_node(stacks->load, node, time) : 0;
    const char *waits_on =
        entry->waits_on != 0 ? text_of(stacks, entry->waits_on) : NULL;
    *thread = (struct stacks_thread){
        .tid = entry->tid,
        .name = number != INTERN_NONE ? profile->threads[number].name : "",
        .node = folding_shown(profile, node),
        .depth = entry->depth,
        .doing = doing_of(stacks, entry, gpu_wait_is_at(profile, node)),
        .waits_on = waits_on != NULL ? waits_on : "",
        .owner = entry->owner,
        .owner_at = STACKS_NONE,
        .cpu = entry->cpu,
        .system_call = SYSCALL_UNKNOWN,
        .state = isalpha(entry->state) ? entry->state : 0,
        .cause = entry->cause,
        .label = label_set(&stacks->labels, entry->label),
        .is_kept = true,
    };
    if (stacks_is_waiting(thread))
        thread->system_call = entry->system_call;
}

/* For qsort and bsearch. */
static int
compare_tids(const void *a, const void *b)
{
    uint32_t one = ((const struct stacks_thread *)a)->tid;
    uint32_t two = ((const struct stacks_thread *)b)->tid;
    return (one > two) - (one < two);
}

/* The number of the thread TID, or STACKS_NONE. */
static uint32_t
find_thread(const struct stacks *stacks, uint32_t tid)
{
    const struct stacks_thread key = {.tid = tid};
    const struct stacks_thread *found =
        tid == 0 ? NULL
                 : bsearch(&key, stacks->threads, stacks->thread_count,
                           sizeof(key), compare_tids);
    return found != NULL ? (uint32_t)(found - stacks->threads) : STACKS_NONE;
}

/* An owner that is not one of the threads is not part of a circle. */
static int
find_deadlocks(struct stacks *stacks)
{
    uint32_t *owners = calloc(stacks->thread_count + 1u, sizeof(*owners));
    if (owners == NULL)
        return -1;
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        struct stacks_thread *thread = &stacks->threads[i];
        thread->owner_at = find_thread(stacks, thread->owner);
        owners[i] = thread->owner_at;
    }
    int result =
        deadlock_find(&stacks->deadlocks, owners, stacks->thread_count);
    free(owners);
    return result;
}

/* Forget what was read from the last record. */
static void
forget_record(struct stacks *stacks)
{
    free(stacks->threads);
    free(stacks->groups);
    free(stacks->order);
    stacks->threads = NULL;
    stacks->groups = NULL;
    stacks->order = NULL;
    stacks->thread_count = stacks->kept_count = stacks->group_count = 0;
    deadlock_release(&stacks->deadlocks);
}

/* Make the model of RECORD. */
static int
take_stacks(struct stacks *stacks, const struct record_stacks *record)
{
    const struct stacks_entry *entries = record_entries(record);
    uint32_t count =
        record->count < record->capacity ? record->count : record->capacity;
    forget_record(stacks);
    stacks->time = stacks_process(stacks)->start;
    sum_add(&stacks->time, record->time);
    stacks->took = record->took;
    stacks->nonce = record->nonce;
    stacks->threads = calloc(count + 1u, sizeof(*stacks->threads));
    if (stacks->threads == NULL)
        return -1;
    stacks->thread_count = stacks->kept_count = count;
    folding_extend(stacks->profile);
    for (uint32_t i = 0; i < count; i++)
        take_entry(stacks, &entries[i], record->time, &stacks->threads[i]);
    qsort(stacks->threads, count, sizeof(*stacks->threads), compare_tids);
    return find_deadlocks(stacks) != 0 ? -1 : stacks_group_all(stacks);
}

/* Write to ERROR why no stacks can be shown. Returns -1. */
static int
explain_failure(const struct stacks *stacks, int problem, char *error,
                size_t size)
{
    const char *damage = reader_problem(stacks->reader);
    if (damage != NULL)
        snprintf(error, size, "%s", damage);
    else if (problem == EAGAIN)
        snprintf(error, size,
                 "%s: the stacks of all threads were being written, and never "
                 "were complete",
                 stacks->path);
    else if (problem == ENODATA)
        snprintf(error, size,
                 "%s: no stacks of all threads are in it: they were not asked "
                 "for while its process ran",
                 stacks->path);
    else
        snprintf(error, size, "%s: %s", stacks->path, strerror(problem));
    text_hide_controls(error);
    return -1;
}

/* While this one is read, a larger record may be appended, which is then the
 * one in use. */
int
stacks_read(struct stacks *stacks, char *error, size_t size)
{
    struct record_stacks *copy = NULL;
    spool_load_forget_mapped(stacks->load);
    if (take_rest(stacks) != 0)
        return explain_failure(stacks, ENOMEM, error, size);
    uint64_t place;
    int result;
    do {
        free(copy);
        if (stacks->place == 0)
            return explain_failure(stacks, ENODATA, error, size);
        place = stacks->place;
        copy = copy_record(stacks);
        if (copy == NULL)
            return explain_failure(stacks, errno, error, size);
        result = take_rest(stacks);
    } while (result == 0 && stacks->place != place);
    if (result == 0)
        result = take_stacks(stacks, copy);
    free(copy);
    return result == 0 ? 0 : explain_failure(stacks, ENOMEM, error, size);
}

static bool
is_in_state(const struct stacks_thread *thread, const char *value)
{
    return strcmp(thread->doing, value) == 0 ||
           (stacks_is_waiting(thread) && strcmp(value, "waiting") == 0) ||
           (value[0] != '\0' && value[0] == (char)thread->state &&
            value[1] == '\0');
}

/* Whether the program gave THREAD the label KEY with this VALUE. */
static bool
has_own_label(const struct stacks *stacks, const struct stacks_thread *thread,
              const char *key, const char *value)
{
    const struct stacks_label *list[STACKS_LABELS_MOST];
    unsigned count = stacks_label_list(&stacks->labels, thread->label, list);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i]->key, key) == 0)
            return strcmp(list[i]->value, value) == 0;
    return false;
}

/* By the rules of filter.h. */
static bool
has_label(const struct stacks *stacks, const struct stacks_thread *thread,
          const char *key, const char *value)
{
    if (strcmp(key, "thread") == 0)
        return filter_is_thread(thread->name, thread->tid, value);
    if (strcmp(key, "tid") == 0)
        return filter_is_number(value, thread->tid);
    if (strcmp(key, "state") == 0)
        return is_in_state(thread, value);
    if (strcmp(key, "waits_on") == 0)
        return strcmp(thread->waits_on, value) == 0;
    if (strcmp(key, FILTER_MODULE_KEY) == 0)
        return filter_is_in_module(stacks->profile, thread->node, value);
    return has_own_label(stacks, thread, key, value);
}

/* Whether THREAD has, for each key, one of the values that are asked for. */
static bool
has_labels(const struct stacks *stacks, const struct filter_options *filter,
           const struct stacks_thread *thread)
{
    for (size_t i = 0; i < filter->count; i++) {
        const char *key = filter->terms[i].key;
        bool found = filter->terms[i].kind != FILTER_LABEL;
        for (size_t j = 0; j < filter->count && !found; j++)
            found = filter->terms[j].kind == FILTER_LABEL &&
                    strcmp(filter->terms[j].key, key) == 0 &&
                    has_label(stacks, thread, key, filter->terms[j].value);
        if (!found)
            return false;
    }
    return true;
}

/* Whether a function on the stack of NODE matches. */
static bool
stack_matches(struct profile *profile, uint32_t node, const regex_t *regex)
{
    for (; node != 0; node = profile->nodes[node].parent) {
        const struct symbol *symbol = naming_symbol(profile, node);
        for (unsigned i = 0; i < symbol->count; i++)
            if (filter_matches(regex, symbol->frames[i].function,
                               profile_is_marker(profile, node)))
                return true;
    }
    return false;
}

/* Drop every thread with a stack that does not satisfy TERM. KNOWN has one byte
 * for each node: the result for a stack is kept for the other threads with it.
 */
static void
sieve_stacks(struct stacks *stacks, const struct filter_term *term,
             uint8_t *known)
{
    enum { UNKNOWN, MATCHES, DIFFERS };
    uint8_t wanted = term->kind == FILTER_FOCUS ? MATCHES : DIFFERS;
    memset(known, UNKNOWN, stacks->profile->node_count);
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        struct stacks_thread *thread = &stacks->threads[i];
        if (!thread->is_kept)
            continue;
        if (known[thread->node] == UNKNOWN)
            known[thread->node] =
                stack_matches(stacks->profile, thread->node, &term->regex)
                    ? MATCHES
                    : DIFFERS;
        thread->is_kept = known[thread->node] == wanted;
    }
}

/* Deadlocks stay those of all threads. Threads are far fewer than samples, for
 * which filter.c is made. So each thread is looked at by itself. Labels are
 * compared first: this is cheap, and leaves fewer stacks to be named. */
int
stacks_filter_apply(struct stacks *stacks, const struct filter_options *filter)
{
    uint8_t *known = malloc(stacks->profile->node_count);
    if (known == NULL)
        return -1;
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        stacks->threads[i].is_kept =
            has_labels(stacks, filter, &stacks->threads[i]);
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].kind != FILTER_LABEL)
            sieve_stacks(stacks, &filter->terms[i], known);
    free(known);
    stacks->kept_count = 0;
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        stacks->kept_count += stacks->threads[i].is_kept;
    return stacks_group_all(stacks);
}

/* Open the stacks of READER, which is NULL if the file could not be opened;
 * ERROR then has a sentence. On failure stacks_close releases the parts that
 * exist. */
static struct stacks *
open_reader(struct reader *reader, const char *path,
            const struct symbolizer_options *options, char *error, size_t size)
{
    if (reader == NULL)
        return NULL;
    struct stacks *stacks = calloc(1, sizeof(*stacks));
    if (stacks == NULL) {
        reader_end(reader);
    } else {
        stacks->reader = reader;
        stacks->profile = profile_new(options);
        if (stacks->profile != NULL)
            stacks->path = profile_string(stacks->profile, path);
        if (stacks->path != NULL &&
            begin_process(stacks, reader_header(reader)) == 0)
            return stacks;
    }
    snprintf(error, size, "%s", strerror(ENOMEM));
    stacks_close(stacks);
    return NULL;
}

struct stacks *
stacks_open(const char *path, const struct symbolizer_options *options,
            char *error, size_t size)
{
    return open_reader(reader_open(path, error, size), path, options, error,
                       size);
}

struct stacks *
stacks_open_memory(const void *bytes, size_t length,
                   const struct symbolizer_options *options, char *error,
                   size_t size)
{
    struct stacks *stacks =
        open_reader(reader_open_memory(bytes, length, error, size), "spool",
                    options, error, size);
    if (stacks != NULL)
        stacks->is_memory = true;
    return stacks;
}

void
stacks_tell_pid(struct stacks *stacks, uint32_t pid)
{
    spool_load_forget_mapped(stacks->load);
    stacks->load->pid = pid;
    stacks->load->is_here = true;
}

void
stacks_close(struct stacks *stacks)
{
    if (stacks == NULL)
        return;
    forget_record(stacks);
    release_labels(&stacks->labels);
    if (stacks->load != NULL)
        spool_load_release(stacks->load);
    free(stacks->load);
    profile_free(stacks->profile);
    reader_end(stacks->reader);
    free(stacks);
}
