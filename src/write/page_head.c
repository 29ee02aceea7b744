/* SPDX-License-Identifier: MIT */
/*
 * page_head.c -- writes a table as columns. A column has one of these codes:
 *
 *   PLAIN    the number
 *   CHANGE   the difference to the row before
 *   NEXT     0 for the smallest number that no row had before; else the
 *            distance below that number
 *   MOST     the difference to the largest number before
 *
 * Strings are last, because the other tables add strings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/label_sets.h"
#include "model/wait_text.h"
#include "util/intern.h"
#include "page_meta.h"
#include "page_head.h"

enum code { PLAIN, CHANGE, NEXT, MOST };

/* A column that is being written. */
struct column {
    struct page_stream *stream;
    enum code code;
    uint64_t before; /* CHANGE: the last number; NEXT: the first unused one;
                      * MOST: the largest */
};

static void
put(struct column *column, uint64_t number)
{
    if (column->code == PLAIN) {
        page_stream_number(column->stream, number);
    } else if (column->code == CHANGE) {
        page_stream_change(column->stream, number, column->before);
        column->before = number;
    } else if (column->code == MOST) {
        page_stream_change(column->stream, number, column->before);
        if (number > column->before)
            column->before = number;
    } else {
        page_stream_number(column->stream, column->before - number);
        column->before += number == column->before;
    }
}

/* Write field FIELD of all rows of TABLE, whose keys are arrays of 32-bit
 * numbers. */
static void
put_field(struct page_stream *stream, const struct intern *table,
          unsigned field, enum code code)
{
    struct column column = {stream, code, 0};
    for (uint32_t i = 0; i < intern_count(table); i++) {
        const uint32_t *row = intern_bytes(table, i);
        put(&column, row[field]);
    }
}

static void
write_modules(struct page_stream *stream, const struct page_tables *tables)
{
    page_stream_number(stream, intern_count(tables->modules));
    for (unsigned field = 0; field < 3; field++)
        put_field(stream, tables->modules, field, CHANGE);
}

/* The fields of struct page_function, and of struct page_frame. */
static void
write_functions(struct page_stream *stream, const struct page_tables *tables)
{
    page_stream_number(stream, intern_count(tables->functions));
    put_field(stream, tables->functions, 0, CHANGE);
    put_field(stream, tables->functions, 1, CHANGE);
    put_field(stream, tables->functions, 2, CHANGE);
    put_field(stream, tables->functions, 3, PLAIN);
    page_stream_number(stream, intern_count(tables->frames));
    put_field(stream, tables->frames, 0, NEXT);
    put_field(stream, tables->frames, 1, PLAIN);
    put_field(stream, tables->frames, 2, PLAIN);
}

/* The caller of a node is written as the distance to its number, which is
 * usually 1. The root is not written. */
static void
write_nodes(struct page_stream *stream, const struct page_tables *tables)
{
    uint32_t count = intern_count(tables->nodes);
    page_stream_number(stream, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct page_node *node = intern_bytes(tables->nodes, i);
        page_stream_number(stream, i + 1 - node->parent);
    }
    put_field(stream, tables->nodes, 1, NEXT);
}

static void
write_processes(struct page_stream *stream, struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    page_stream_number(stream, profile->process_count);
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        const char *name = strrchr(process->exe, '/');
        name = name != NULL ? name + 1 : process->exe;
        page_stream_number(stream, process->pid);
        page_stream_number(stream, page_tables_string(tables, name));
        page_stream_number(stream,
                           page_tables_string(tables, process->command));
    }
}

/* TIME, in ns since the start of PROCESS, as ns since the profile's start. */
static uint64_t
own_time(const struct profile *profile, uint32_t process, uint64_t time)
{
    sum_add(&time, profile->processes[process].start - profile->start);
    return time;
}

/* A thread whose end is not known ends with its process. */
static uint64_t
end_of(const struct profile *profile, const struct profile_thread *thread)
{
    uint64_t last = profile->processes[thread->process].duration;
    uint64_t end = thread->end < last ? thread->end : last;
    return end > thread->start ? end : thread->start;
}

static void
write_threads(struct page_stream *stream, struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    uint32_t count = profile->thread_count;
    struct column process = {stream, CHANGE, 0}, tid = {stream, CHANGE, 0};
    struct column name = {stream, CHANGE, 0}, start = {stream, CHANGE, 0};
    page_stream_number(stream, count);
    for (uint32_t i = 0; i < count; i++)
        put(&process, profile->threads[i].process);
    for (uint32_t i = 0; i < count; i++)
        put(&tid, profile->threads[i].tid);
    for (uint32_t i = 0; i < count; i++)
        put(&name, page_tables_string(tables, profile->threads[i].name));
    for (uint32_t i = 0; i < count; i++)
        put(&start, own_time(profile, profile->threads[i].process,
                             profile->threads[i].start));
    for (uint32_t i = 0; i < count; i++)
        page_stream_number(stream, end_of(profile, &profile->threads[i]) -
                                       profile->threads[i].start);
}

static void
write_states(struct page_stream *stream, const struct page_tables *tables)
{
    page_stream_number(stream, intern_count(tables->states));
    put_field(stream, tables->states, 0, PLAIN);
    put_field(stream, tables->states, 1, PLAIN);
}

/* Make an index of threads by process and tid. LAST has the thread of each
 * number; of several threads with one tid, the last. */
static struct intern *
index_threads(const struct profile *profile, uint32_t *last)
{
    struct intern *index = intern_new();
    for (uint32_t i = 0; index != NULL && i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        const uint32_t key[2] = {thread->process, thread->tid};
        uint32_t number = intern_put(index, key, sizeof(key));
        if (number != INTERN_NONE)
            last[number] = i;
    }
    return index;
}

/* The thread that WAIT names, plus 1; 0 if it names none. */
static uint32_t
holder_of(const struct page_tables *tables, const struct page_wait *wait,
          const struct intern *index, const uint32_t *last)
{
    const char *text = intern_bytes(tables->strings, wait->text);
    const uint32_t key[2] = {wait->process, wait_text_holder(text)};
    uint32_t number =
        key[1] != 0 ? intern_find(index, key, sizeof(key)) : INTERN_NONE;
    return number != INTERN_NONE ? last[number] + 1 : 0;
}

static int
write_waits(struct page_stream *stream, const struct page_tables *tables)
{
    uint32_t *last = calloc(tables->profile->thread_count + 1u, sizeof(*last));
    struct intern *index =
        last != NULL ? index_threads(tables->profile, last) : NULL;
    int status = index != NULL ? 0 : -1;
    page_stream_number(stream, intern_count(tables->waits));
    put_field(stream, tables->waits, 0, CHANGE);
    for (uint32_t i = 0; status == 0 && i < intern_count(tables->waits); i++)
        page_stream_number(stream,
                           holder_of(tables, intern_bytes(tables->waits, i),
                                     index, last));
    intern_free(index);
    free(last);
    return status;
}

static void
write_labels(struct page_stream *stream, struct page_tables *tables)
{
    uint32_t count = intern_count(tables->labels);
    page_stream_number(stream, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *set = intern_bytes(tables->labels, i);
        struct label_pair pairs[LABEL_SETS_DEPTH];
        unsigned size = label_sets_get(tables->profile, *set, pairs);
        page_stream_number(stream, size);
        for (unsigned j = 0; j < size; j++) {
            page_stream_number(stream,
                               page_tables_string(tables, pairs[j].key));
            page_stream_number(stream,
                               page_tables_string(tables, pairs[j].value));
        }
    }
}

/* The columns of a row. */
enum { NODE, THREAD, STATE, WAIT, LABELS, COUNT, CPU, WALL, NATIVE };

static uint64_t
row_number(struct page_tables *tables, uint32_t row, unsigned column)
{
    const struct profile_sample *sample =
        &tables->profile->samples[tables->sample_of[row]];
    switch (column) {
    case NODE:
        return tables->node_of[sample->node];
    case NATIVE:
        return tables->native_of[sample->native_node];
    case THREAD:
        return sample->thread;
    case STATE:
        return page_tables_state(tables, sample);
    case WAIT:
        return page_tables_wait(tables, sample);
    case LABELS:
        return page_tables_labels(tables, sample);
    default:
        return sample->values[column - COUNT];
    }
}

/* A new stack ends in a new node, whose number is a little above the largest
 * before. A thread that runs has as much wall time as CPU time. */
static void
write_rows(struct page_stream *stream, struct page_tables *tables)
{
    struct column native = {stream, MOST, 0};
    static const enum code codes[] = {MOST,   CHANGE, NEXT, CHANGE,
                                      CHANGE, PLAIN,  PLAIN};
    page_stream_number(stream, tables->row_count);
    for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct column column = {stream, codes[i], 0};
        for (uint32_t row = 0; row < tables->row_count; row++)
            put(&column, row_number(tables, row, i));
    }
    for (uint32_t row = 0; row < tables->row_count; row++)
        page_stream_change(stream, row_number(tables, row, WALL),
                           row_number(tables, row, CPU));
    for (uint32_t row = 0; tables->has_native && row < tables->row_count; row++)
        put(&native, row_number(tables, row, NATIVE));
}

static size_t
count_marks(const struct profile *profile, uint32_t kind)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->timed_mark_count; i++)
        count += profile->timed_marks[i].kind == kind;
    return count;
}

/* Write the marks of KIND, row by row: time, duration (of spans), thread plus 1
 * (0: the process), name. */
static void
write_marks(struct page_stream *stream, struct page_tables *tables,
            uint32_t kind)
{
    const struct profile *profile = tables->profile;
    struct column times = {stream, CHANGE, 0};
    page_stream_number(stream, count_marks(profile, kind));
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        const struct profile_mark *mark = &profile->timed_marks[i];
        if (mark->kind != kind)
            continue;
        put(&times, profile_mark_time(profile, mark));
        page_stream_number(stream, mark->duration);
        page_stream_number(stream, mark->thread == PROFILE_NO_THREAD
                                       ? 0
                                       : mark->thread + 1u);
        page_stream_number(stream, page_tables_string(tables, mark->name));
    }
}

/* How many bytes string NUMBER shares with the one before. */
static size_t
shared_bytes(const struct page_tables *tables, uint32_t number)
{
    const char *text = intern_bytes(tables->strings, number);
    const char *before =
        number > 0 ? intern_bytes(tables->strings, number - 1) : "";
    size_t shared = 0;
    while (text[shared] != '\0' && text[shared] == before[shared])
        shared++;
    return shared;
}

/* For each string, write how many bytes it shares with the string before, then
 * how many more it has. Then write these bytes of all strings. */
static void
write_strings(struct page_stream *stream, const struct page_tables *tables)
{
    uint32_t count = intern_count(tables->strings);
    page_stream_number(stream, count);
    for (uint32_t i = 0; i < count; i++)
        page_stream_number(stream, shared_bytes(tables, i));
    for (uint32_t i = 0; i < count; i++)
        page_stream_number(stream, strlen(intern_bytes(tables->strings, i)) -
                                       shared_bytes(tables, i));
    for (uint32_t i = 0; i < count; i++) {
        const char *text = intern_bytes(tables->strings, i);
        size_t shared = shared_bytes(tables, i);
        page_stream_bytes(stream, text + shared, strlen(text + shared));
    }
}

int
page_head_write(struct page_stream *stream, struct page_tables *tables)
{
    page_stream_number(stream, PAGE_HEAD_VERSION);
    if (page_meta_write(stream, tables) != 0)
        return -1;
    write_modules(stream, tables);
    write_functions(stream, tables);
    write_nodes(stream, tables);
    write_processes(stream, tables);
    write_threads(stream, tables);
    write_states(stream, tables);
    if (write_waits(stream, tables) != 0)
        return -1;
    write_labels(stream, tables);
    write_rows(stream, tables);
    write_marks(stream, tables, MARK_USER);
    write_marks(stream, tables, MARK_SPAN);
    write_strings(stream, tables);
    if (!tables->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}
