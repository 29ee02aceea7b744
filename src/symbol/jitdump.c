/* SPDX-License-Identifier: MIT */
/* jitdump.c -- see jitdump.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clean.h"
#include "util/intern.h"
#include "address_table.h"
#include "jitdump_records.h"
#include "runtime_file.h"
#include "runtime_name.h"
#include "time_index.h"
#include "jitdump.h"

/* Limit of the bytes of a file that are read. Its machine code is skipped, so
 * only a file of very many small records takes long: some seconds. */
#define SIZE_MOST ((uint64_t)4 << 30)

struct jitdump {
    char *path;
    uint64_t size; /* bytes of the file when it was opened */
    struct jitdump_records records;
    struct time_index index;
    struct intern store;          /* of symbols */
    struct address_table symbols; /* (name, line + 1): struct symbol */
    char *problem;
};

/* Longest time in ns between the mapping of a file and its header. */
#define HEADER_NS 10000000000u

/* Whether a header that has TIME was written long after SEEN. V8's header has
 * us since the epoch, others have ns on CLOCK_MONOTONIC. Either may be right.
 */
static bool
is_begun_later(uint64_t time, const struct jitdump_process *process,
               uint64_t seen)
{
    uint64_t limit = seen + HEADER_NS;
    uint64_t epoch_us = (process->start + limit - process->monotonic) / 1000;
    return limit > seen && time > limit && time > epoch_us;
}

/* Read the open file FD of SIZE bytes, which was mapped at SEEN. Returns 0, or
 * -1 if memory is short. */
static int
read_file(struct jitdump *dump, int fd, uint64_t size,
          const struct jitdump_process *process, uint64_t seen)
{
    struct jitdump_records *records = &dump->records;
    const char *why = NULL;
    uint64_t used = size < SIZE_MOST ? size : SIZE_MOST;
    int result = jitdump_records_read(records, fd, used, UINT64_MAX, &why);
    /* The writer's pid is in the file: read it again up to the fork. */
    if (result == 0 && records->code_count > 0 &&
        records->pid != process->pid) {
        jitdump_records_clear(records);
        result =
            jitdump_records_read(records, fd, used, process->monotonic, &why);
    }
    if (result == 0 && !records->has_no_times &&
        is_begun_later(records->time, process, seen)) {
        jitdump_records_clear(records);
        why = "a later process has written it";
    }
    if (why == NULL && used < size)
        why = "it is larger than 4 GiB";
    if (why == NULL && records->has_no_times)
        why = "its times are of another clock, the last name of an address "
              "holds for the whole run";
    if (why != NULL)
        dump->problem =
            clean_format("%s is used in part at most: %s", dump->path, why);
    return result;
}

struct jitdump *
jitdump_open(const char *path, const struct jitdump_process *process,
             uint64_t seen)
{
    struct jitdump *dump = calloc(1, sizeof(*dump));
    struct stat status;
    if (dump == NULL || (dump->path = strdup(path)) == NULL) {
        free(dump);
        return NULL;
    }
    int fd = runtime_file_open(path, process->start, UINT64_MAX, &status,
                               &dump->problem);
    if (fd < 0)
        return dump;
    dump->size = (uint64_t)status.st_size;
    int result = read_file(dump, fd, dump->size, process, seen);
    close(fd);
    if (result == 0 && time_index_make(&dump->index, dump->records.ranges,
                                       dump->records.code_count) == 0)
        return dump;
    jitdump_close(dump);
    return NULL;
}

bool
jitdump_has_grown(const struct jitdump *dump)
{
    struct stat now;
    return lstat(dump->path, &now) == 0 && (uint64_t)now.st_size != dump->size;
}

uint32_t
jitdump_find(const struct jitdump *dump, uint64_t address, uint64_t time,
             uint64_t *since)
{
    uint32_t number = time_index_find(&dump->index, address, time);
    if (number == TIME_INDEX_NONE ||
        dump->records.codes[number].name == INTERN_NONE)
        return TIME_INDEX_NONE;
    *since = dump->records.ranges[number].time;
    return number;
}

bool
jitdump_has_several(const struct jitdump *dump, uint64_t address)
{
    return time_index_has_several(&dump->index, address);
}

/* The last line of CODE that begins at or before ADDRESS, as its lines count.
 * NULL if none does. */
static const struct jitdump_line *
find_line(const struct jitdump *dump, const struct jitdump_code *code,
          uint64_t address)
{
    const struct jitdump_line *lines = dump->records.lines + code->first_line;
    uint32_t low = 0, high = code->line_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lines[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &lines[low - 1] : NULL;
}

static const struct symbol *
make_symbol(struct jitdump *dump, uint32_t name,
            const struct jitdump_line *line)
{
    struct symbol *symbol = intern_space(&dump->store, sizeof(*symbol));
    struct symbol_frame *frame = intern_space(&dump->store, sizeof(*frame));
    if (symbol == NULL || frame == NULL ||
        runtime_name_split(&dump->store,
                           intern_bytes(&dump->records.texts, name),
                           frame) != 0)
        return NULL;
    if (line != NULL) {
        const char *file = intern_bytes(&dump->records.texts, line->file);
        frame->line = line->line;
        if (file[0] != '\0')
            frame->file = file;
    }
    *symbol = (struct symbol){.count = 1, .named = true, .frames = frame};
    return symbol;
}

const struct symbol *
jitdump_symbol(struct jitdump *dump, uint32_t number, uint64_t address)
{
    const struct jitdump_records *records = &dump->records;
    if (number >= records->code_count ||
        records->codes[number].name == INTERN_NONE)
        return NULL;
    const struct jitdump_code *code = &records->codes[number];
    const struct jitdump_line *line =
        find_line(dump, code,
                  address - records->ranges[number].low + code->origin);
    void **place =
        address_table_place(&dump->symbols, code->name,
                            line != NULL ? (uint64_t)(line - records->lines) + 1
                                         : 0);
    if (place != NULL && *place == NULL)
        *place = (void *)make_symbol(dump, code->name, line);
    return place != NULL ? *place : NULL;
}

const char *
jitdump_problem(const struct jitdump *dump)
{
    return dump->problem;
}

void
jitdump_close(struct jitdump *dump)
{
    if (dump == NULL)
        return;
    address_table_free(&dump->symbols);
    intern_clear(&dump->store);
    time_index_clear(&dump->index);
    jitdump_records_clear(&dump->records);
    free(dump->problem);
    free(dump->path);
    free(dump);
}
