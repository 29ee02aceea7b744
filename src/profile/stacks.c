/* SPDX-License-Identifier: MIT */
/*
 * stacks.c -- see stacks.h. The record is written in place by a process that
 * may be at it right now: it counts only if its sequence was even before it was
 * read and is the same behind. What its entries refer to was written before the
 * sequence became even, perhaps behind the place where the reader was: so the
 * rest of the spool is read after the record, not before.
 */
#include "stacks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "store/reader.h"
#include "store/record.h"
#include "symbol/mapped_files.h"

#include "build.h"
#include "intern.h"
#include "parts.h"
#include "stacks_group.h"
#include "system_call.h"

/* So often a record is read that is being written, once in 10 ms. */
enum { ATTEMPTS = 200 };
static const struct timespec pause_between = {.tv_nsec = 10000000};

bool
stacks_is_waiting(const struct stacks_thread *thread)
{
    return strchr("SDI", thread->state) != NULL && thread->state != '\0';
}

const struct profile_process *
stacks_process(const struct stacks *stacks)
{
    return &stacks->profile->processes[stacks->build->process];
}

/* What comes from now on is of another process, whose ids begin again. */
static int
begin_process(struct stacks *stacks, const struct spool_header *header)
{
    if (stacks->build != NULL)
        parts_release(stacks->build);
    free(stacks->build);
    stacks_label_release(&stacks->labels);
    stacks->build = calloc(1, sizeof *stacks->build);
    if (stacks->build == NULL)
        return -1;
    stacks->build->profile = stacks->profile;
    return build_begin(stacks->build, header);
}

/* As build.c does, for files of several processes. */
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

/* One record. Samples, of which there are most, say nothing here. */
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
        return stacks_label_add(&stacks->labels, stacks->build, record);
    case RECORD_NEXT:
        return begin_next(stacks, record);
    default:
        return build_take(stacks->build, kind, record) == FAILED ? -1 : 0;
    }
}

/* Read what was written since the last call. In a file of several processes,
 * the first that has stacks is the one. */
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
        if (take_record(stacks, kind, record) < 0)
            return -1;
        before = reader_offset(stacks->reader);
    }
    return 0;
}

/* The record as the file has it now, NULL if it cannot be read. */
static const struct record_stacks *
look(struct stacks *stacks)
{
    enum record_kind kind;
    const void *record;

    reader_go(stacks->reader, stacks->place);
    record = reader_next(stacks->reader, &kind);
    return record != NULL && kind == RECORD_STACKS ? record : NULL;
}

/* 0 also if the record is not there any more: then nothing was ever written. */
static uint64_t
sequence_now(struct stacks *stacks)
{
    const struct record_stacks *record = look(stacks);

    return record != NULL ? record->sequence : 0;
}

/* A whole record, which the caller frees. NULL with errno set: EAGAIN if it is
 * being written, ENODATA if it never was. */
static struct record_stacks *
copy_once(struct stacks *stacks)
{
    uint64_t sequence = sequence_now(stacks);
    const struct record_stacks *record;
    struct record_stacks *copy;
    size_t size;

    errno = sequence == 0 ? ENODATA : EAGAIN;
    if (sequence == 0 || sequence % 2 != 0)
        return NULL;
    record = look(stacks);
    if (record == NULL)
        return NULL;
    size = record_size_of(record->head);
    copy = malloc(size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, record, size);
    if (sequence_now(stacks) == sequence)
        return copy;
    free(copy);
    errno = EAGAIN;
    return NULL;
}

/* Leaves the reader where it was. */
static struct record_stacks *
copy_record(struct stacks *stacks)
{
    uint64_t offset = reader_offset(stacks->reader);
    struct record_stacks *copy;
    int problem;

    for (int i = 0; i < ATTEMPTS; i++) {
        if (i > 0)
            nanosleep(&pause_between, NULL);
        copy = copy_once(stacks);
        if (copy != NULL || errno != EAGAIN || stacks->is_memory)
            break;
    }
    problem = errno;
    reader_go(stacks->reader, offset);
    errno = problem;
    return copy;
}

/* The system call that ENTRY waits in, "waiting" if that is not known. */
static const char *
name_wait(struct stacks *stacks, const struct stacks_entry *entry)
{
    const char *name;
    char text[32];

    if (entry->system_call == SYSCALL_UNKNOWN)
        return "waiting";
    name =
        system_call_name(stacks_process(stacks)->machine, entry->system_call);
    if (name != NULL)
        return name;
    snprintf(text, sizeof text, "system call %u", entry->system_call);
    name = profile_string(stacks->profile, text);
    return name != NULL ? name : "waiting";
}

/* What a thread does, as states of samples are called. */
static const char *
doing(struct stacks *stacks, const struct stacks_entry *entry)
{
    switch (entry->state) {
    case 'R':
        return "running";
    case 'S':
    case 'D':
    case 'I':
        return name_wait(stacks, entry);
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

/* ID of the spool as a string, "" for 0 and what it has not defined. */
static const char *
text_of(const struct stacks *stacks, uint32_t id)
{
    uint32_t string =
        id == 0 ? INTERN_NONE : parts_number(&stacks->build->texts, id);

    return string == INTERN_NONE
               ? ""
               : intern_bytes(stacks->profile->strings, string);
}

/* THREAD is in our own code, where it waits for nobody but us: but for that, it
 * runs. */
static void
set_running(struct stacks_thread *thread)
{
    thread->state = 'R';
    thread->doing = "running";
    thread->system_call = SYSCALL_UNKNOWN;
    thread->waits_on = "";
    thread->owner = 0;
}

/* An entry may refer to what does not exist: then that is not known. */
static void
take_entry(struct stacks *stacks, const struct stacks_entry *entry,
           struct stacks_thread *thread)
{
    const struct profile *profile = stacks->profile;
    uint32_t number = parts_number(&stacks->build->threads, entry->thread);
    uint64_t node = stacks->build->base_node + entry->node;
    bool has_node = entry->node != 0 && node < profile->node_count;

    *thread = (struct stacks_thread){
        .tid = entry->tid,
        .name = number != INTERN_NONE ? profile->threads[number].name : "",
        .node = has_node ? (uint32_t)node : 0,
        .depth = entry->depth,
        .doing = doing(stacks, entry),
        .waits_on = text_of(stacks, entry->waits_on),
        .owner = entry->owner,
        .owner_at = STACKS_NONE,
        .cpu = entry->cpu,
        .system_call = SYSCALL_UNKNOWN,
        .state = isalpha(entry->state) ? entry->state : 0,
        .cause = entry->cause,
        .label = stacks_label_set(&stacks->labels, entry->label),
        .is_kept = true,
    };
    if (stacks_is_waiting(thread))
        thread->system_call = entry->system_call;
    if (has_node && thread->node != node && stacks_is_waiting(thread))
        set_running(thread);
}

/* For qsort and bsearch. */
static int
compare_tids(const void *a, const void *b)
{
    uint32_t one = ((const struct stacks_thread *)a)->tid;
    uint32_t two = ((const struct stacks_thread *)b)->tid;

    return (one > two) - (one < two);
}

/* The number of the thread TID. */
static uint32_t
find_thread(const struct stacks *stacks, uint32_t tid)
{
    const struct stacks_thread key = {.tid = tid};
    const struct stacks_thread *found =
        tid == 0 ? NULL
                 : bsearch(&key, stacks->threads, stacks->thread_count,
                           sizeof key, compare_tids);

    return found != NULL ? (uint32_t)(found - stacks->threads) : STACKS_NONE;
}

/* An owner that is none of the threads is not in a circle. */
static int
find_deadlocks(struct stacks *stacks)
{
    uint32_t *owners = calloc(stacks->thread_count + 1u, sizeof *owners);
    int result;

    if (owners == NULL)
        return -1;
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        struct stacks_thread *thread = &stacks->threads[i];
        thread->owner_at = find_thread(stacks, thread->owner);
        owners[i] = thread->owner_at;
    }
    result = deadlock_find(&stacks->deadlocks, owners, stacks->thread_count);
    free(owners);
    return result;
}

/* Forget what was read from the last record. */
static void
forget(struct stacks *stacks)
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

/* The model of what is in RECORD. */
static int
take_stacks(struct stacks *stacks, const struct record_stacks *record)
{
    const struct stacks_entry *entries = record_entries(record);
    uint32_t count =
        record->count < record->capacity ? record->count : record->capacity;

    forget(stacks);
    stacks->time = stacks_process(stacks)->start;
    profile_sum(&stacks->time, record->time);
    stacks->took = record->took;
    stacks->nonce = record->nonce;
    stacks->threads = calloc(count + 1u, sizeof *stacks->threads);
    if (stacks->threads == NULL)
        return -1;
    stacks->thread_count = stacks->kept_count = count;
    for (uint32_t i = 0; i < count; i++)
        take_entry(stacks, &entries[i], &stacks->threads[i]);
    qsort(stacks->threads, count, sizeof *stacks->threads, compare_tids);
    return find_deadlocks(stacks) < 0 ? -1 : stacks_group_all(stacks);
}

/* Why there is nothing to show. Returns -1. */
static int
complain(const struct stacks *stacks, int problem, char *error, size_t size)
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
                 "%s: no stacks of all threads are in it: nobody asked for "
                 "them while its process ran",
                 stacks->path);
    else
        snprintf(error, size, "%s: %s", stacks->path, strerror(problem));
    text_hide_controls(error);
    return -1;
}

/* A larger record may have come meanwhile, and is then the one in use. */
int
stacks_read(struct stacks *stacks, char *error, size_t size)
{
    struct record_stacks *copy = NULL;
    uint64_t place;
    int result;

    if (take_rest(stacks) < 0)
        return complain(stacks, ENOMEM, error, size);
    do {
        free(copy);
        if (stacks->place == 0)
            return complain(stacks, ENODATA, error, size);
        place = stacks->place;
        copy = copy_record(stacks);
        if (copy == NULL)
            return complain(stacks, errno, error, size);
        result = take_rest(stacks);
    } while (result == 0 && stacks->place != place);
    if (result == 0)
        result = take_stacks(stacks, copy);
    free(copy);
    return result == 0 ? 0 : complain(stacks, ENOMEM, error, size);
}

/* STACKS has its reader, or none: then there is a sentence. Whatever of it
 * exists is released by stacks_close. */
static struct stacks *
begin(struct stacks *stacks, const char *path,
      const struct symbolizer_options *options, char *error, size_t size)
{
    if (stacks->reader == NULL)
        goto err;
    stacks->profile = profile_new(options);
    if (stacks->profile != NULL)
        stacks->path = profile_string(stacks->profile, path);
    if (stacks->path == NULL ||
        begin_process(stacks, reader_header(stacks->reader)) < 0) {
        snprintf(error, size, "%s", strerror(ENOMEM));
        goto err;
    }
    return stacks;

err:
    stacks_close(stacks);
    return NULL;
}

struct stacks *
stacks_open(const char *path, const struct symbolizer_options *options,
            char *error, size_t size)
{
    struct stacks *stacks = calloc(1, sizeof *stacks);

    if (stacks == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return NULL;
    }
    stacks->reader = reader_open(path, error, size);
    return begin(stacks, path, options, error, size);
}

struct stacks *
stacks_open_memory(const void *bytes, size_t length,
                   const struct symbolizer_options *options, char *error,
                   size_t size)
{
    struct stacks *stacks = calloc(1, sizeof *stacks);

    if (stacks == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return NULL;
    }
    stacks->is_memory = true;
    stacks->reader = reader_open_memory(bytes, length, error, size);
    return begin(stacks, "spool", options, error, size);
}

/* What parts.c would do with the pid that is in the spool. */
void
stacks_tell_pid(struct stacks *stacks, uint32_t pid)
{
    mapped_files_close(stacks->build->mapped);
    stacks->build->mapped = mapped_files_open(pid);
    stacks->build->has_looked = true;
}

void
stacks_close(struct stacks *stacks)
{
    if (stacks == NULL)
        return;
    forget(stacks);
    stacks_label_release(&stacks->labels);
    if (stacks->build != NULL)
        parts_release(stacks->build);
    free(stacks->build);
    profile_free(stacks->profile);
    reader_end(stacks->reader);
    free(stacks);
}
