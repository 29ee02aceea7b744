/* SPDX-License-Identifier: MIT */
/*
 * fuzz_spool.c -- the spool's reader on any bytes. Each input is read as it
 * is, and once more with its heads put right (repair.h). Every record is copied
 * to memory of its exact size before its parts are touched, so that the
 * sanitizers see the first byte too many.
 */
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"

#include "fuzz.h"
#include "repair.h"

/* Keeps the compiler from leaving out what is only read. */
static volatile uint64_t sink;

static void
touch_string(const char *string)
{
    sink += strlen(string);
}

static void
touch_counts(const struct record_counts *counts)
{
    uint32_t i;

    for (i = 0; i < counts->loss_count + 2 && i < 100; i++)
        sink += record_lost(counts, i);
    for (i = 0; i < counts->cut_count + 2 && i < 100; i++)
        sink += record_cut(counts, i);
    sink += record_lost(counts, UINT32_MAX) + record_cut(counts, UINT32_MAX);
    sink += record_lost(counts, counts->loss_count - 1);
    sink += record_cut(counts, counts->cut_count - 1);
    sink += record_expired(counts) + record_missed(counts);
}

static void
touch_rate(const struct record_rate *rate)
{
    for (uint32_t i = 0; i < rate->count + 2 && i < 100; i++)
        sink += record_rated(rate, i).cpu + record_rated(rate, i).taken;
    sink += record_rated(rate, rate->count - 1).taken;
}

static void
touch_module(const struct record_module *module)
{
    const uint8_t *id = record_build_id(module);

    touch_string(record_path(module));
    if (id != NULL)
        sink += id[0] + id[module->build_id_length - 1];
}

static void
touch_process(const struct record_process *process)
{
    touch_string(record_exe(process));
    touch_string(record_command(process));
    touch_string(record_version(process));
    touch_string(record_host(process));
}

static void
touch_entries(const struct record_stacks *stacks)
{
    const struct stacks_entry *entries = record_entries(stacks);
    for (uint32_t i = 0; i < stacks->capacity; i++)
        sink += entries[i].tid + entries[i].node;
}

static void
touch(const void *record, enum record_kind kind)
{
    switch (kind) {
    case RECORD_PROCESS:
        touch_process(record);
        break;
    case RECORD_MODULE:
        touch_module(record);
        break;
    case RECORD_THREAD:
        touch_string(record_name(record));
        break;
    case RECORD_COUNTS:
        touch_counts(record);
        break;
    case RECORD_RATE:
        touch_rate(record);
        break;
    case RECORD_MARK:
        touch_string(record_text(record));
        break;
    case RECORD_TEXT:
        touch_string(record_string(record));
        break;
    case RECORD_ANSWER:
        touch_string(record_answer_text(record));
        break;
    case RECORD_STACKS:
        touch_entries(record);
        break;
    default:
        break;
    }
}

/* The number of records, all of which were touched. */
static size_t
walk(struct reader *reader)
{
    size_t count = 0;
    enum record_kind kind;
    const void *record;

    while ((record = reader_next(reader, &kind)) != NULL) {
        uint64_t head = *(const uint64_t *)record;
        size_t size = record_size_of(head), i;
        unsigned char *copy = malloc(size);

        if (copy == NULL || size < record_fixed_size((uint8_t)kind) ||
            record_kind_of(head) != kind)
            abort();
        memcpy(copy, record, size);
        for (i = 0; i < size; i += 8)
            sink += copy[i];
        touch(copy, kind);
        free(copy);
        count++;
    }
    return count;
}

static void
read_all(const uint8_t *data, size_t size)
{
    char error[200] = "";
    struct reader *reader =
        reader_open_memory(data, size, error, sizeof(error));
    size_t count;

    if (reader == NULL) {
        if (error[0] == '\0')
            abort();
        return;
    }
    count = walk(reader);
    reader_go(reader, reader_header(reader)->header_size);
    if (walk(reader) != count)
        abort();
    if (reader_problem(reader) != NULL)
        touch_string(reader_problem(reader));
    reader_end(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);

    if (copy == NULL)
        return 0;
    read_all(data, size);
    memcpy(copy, data, size);
    repair(copy, size);
    read_all(copy, size);
    free(copy);
    return 0;
}
