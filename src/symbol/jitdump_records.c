/* SPDX-License-Identifier: MIT */
/*
 * jitdump_records.c -- see jitdump_records.h. The file is read through a
 * window, because most of it is machine code that is skipped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "address_table.h"
#include "runtime_name.h"
#include "jitdump_records.h"

#define MAGIC 0x4a695444u         /* "JiTD" */
#define MAGIC_SWAPPED 0x4454694au /* written in the other byte order */
#define VERSION 1u

/* Of the header's flags: times are those of the processor's own counter. */
#define FLAG_ARCH_TIMES 1u

enum { KIND_LOAD, KIND_MOVE, KIND_LINES };

/* Bytes that are read at once, if a record does not need more. */
#define WINDOW_SIZE ((size_t)64 << 10)

/* Limit of the bytes of a record with lines; the lines of a larger one are left
 * out. */
#define LINES_SIZE_MOST ((uint32_t)16 << 20)

/* V8 counts the addresses of lines from here on: it adds the size of the header
 * that `perf inject` puts before the code. */
#define V8_SHIFT 0x40u

struct header {
    uint32_t magic, version;
    uint32_t size; /* records begin here */
    uint32_t machine, padding, pid;
    uint64_t time, flags;
};
_Static_assert(sizeof(struct header) == 40, "as in the file");

struct head {
    uint32_t kind, size;
    uint64_t time;
};
_Static_assert(sizeof(struct head) == 16, "as in the file");

/* The name follows, and then the code. */
struct load {
    struct head head;
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
};
_Static_assert(sizeof(struct load) == 56, "as in the file");

struct move {
    struct head head;
    uint32_t pid, tid;
    uint64_t vma, from, to, size, index;
};
_Static_assert(sizeof(struct move) == 64, "as in the file");

/* The entries follow: each with the name of its file after it. */
struct lines {
    struct head head;
    uint64_t address, count;
};
struct entry {
    uint64_t address;
    int32_t line, discriminator;
};
_Static_assert(sizeof(struct entry) == 16, "as in the file");

/* V8 makes the size of such a record a multiple of this. */
#define PADDING 8u

struct reading {
    struct jitdump_records *records;
    int fd;
    uint64_t size, until;
    uint8_t *window; /* FILLED bytes of the file, from BEGIN on */
    uint64_t begin;
    size_t filled, room;
    struct address_table latest; /* (0, address): number + 1 of its last code */
    /* The last record of lines. Its SIZE is 0 if a load has come since. */
    struct {
        uint64_t offset;
        uint32_t size;
    } lines;
    const char *why;
};

/* Fill the window from OFFSET on. Returns 0, or -1 if memory is short. */
static int
fill_window(struct reading *reading, uint64_t offset, size_t length)
{
    if (length < WINDOW_SIZE)
        length = WINDOW_SIZE;
    if (length > reading->room) {
        uint8_t *window = realloc(reading->window, length);
        if (window == NULL)
            return -1;
        reading->window = window;
        reading->room = length;
    }
    reading->begin = offset;
    reading->filled = 0;
    while (reading->filled < length) {
        ssize_t got =
            pread(reading->fd, reading->window + reading->filled,
                  length - reading->filled, (off_t)(offset + reading->filled));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        reading->filled += (size_t)got;
    }
    return 0;
}

/* The LENGTH bytes at OFFSET, until the next call. NULL if the file has shrunk
 * or memory is short. */
static const uint8_t *
bytes_at(struct reading *reading, uint64_t offset, size_t length)
{
    bool is_there = offset >= reading->begin &&
                    offset - reading->begin <= reading->filled &&
                    length <= reading->filled - (offset - reading->begin);
    if (!is_there && fill_window(reading, offset, length) != 0)
        return NULL;
    if (length > reading->filled - (offset - reading->begin))
        return NULL;
    return reading->window + (offset - reading->begin);
}

/* Add CODE, which lies from LOW on for SIZE bytes since TIME. A range that
 * wraps around is left out. Returns 0, or -1 if memory is short. */
static int
add_code(struct reading *reading, const struct jitdump_code *code, uint64_t low,
         uint64_t size, uint64_t time)
{
    struct jitdump_records *records = reading->records;
    uint32_t number = records->code_count;
    if (size == 0 || low + size < low)
        return 0;
    if (number == TIME_INDEX_MOST) {
        reading->why = "it has more records than are read";
        return 0;
    }
    void **place = address_table_place(&reading->latest, 0, low);
    if (place == NULL || !ARRAY_GROW(records->codes, number) ||
        !ARRAY_GROW(records->ranges, number))
        return -1;
    records->codes[number] = *code;
    records->ranges[number] =
        (struct time_range){low, low + size, records->has_no_times ? 0 : time};
    records->code_count++;
    *place = (void *)(uintptr_t)(number + 1u);
    return 0;
}

/* The number of the file NAME of an entry; LAST is that of the entry before. A
 * name of one byte 0xff stands for it. */
static uint32_t
file_of(struct reading *reading, const char *name, size_t length, uint32_t last)
{
    if (length == 1 && (uint8_t)name[0] == 0xff && last != INTERN_NONE)
        return last;
    if (length > RUNTIME_NAME_MOST)
        length = RUNTIME_NAME_MOST;
    return intern_put(&reading->records->texts, name, length);
}

/* The entries of a record of lines. */
struct entries {
    const uint8_t *at;
    size_t length;
    uint64_t count;
    uint64_t low, high; /* addresses of the code, as the entries count */
    /* If FILE is not INTERN_NONE, each entry has SIZE bytes and is of FILE. */
    uint32_t file;
    size_t size;
};

/* The size of the first one of ENTRIES, with its name. 0 if it is not whole. */
static size_t
size_of_first(const struct entries *entries)
{
    if (entries->file != INTERN_NONE)
        return entries->size;
    if (entries->length <= sizeof(struct entry))
        return 0;
    const uint8_t *name = entries->at + sizeof(struct entry);
    const uint8_t *zero =
        memchr(name, '\0', entries->length - sizeof(struct entry));
    return zero != NULL ? (size_t)(zero + 1 - entries->at) : 0;
}

/* Add ENTRIES. An entry that is no line of the code shows that the record is
 * damaged: then none of its lines is used. Returns 0, or -1 if memory is
 * short. */
static int
add_lines(struct reading *reading, struct entries entries)
{
    struct jitdump_records *records = reading->records;
    uint32_t first = records->line_count, file = INTERN_NONE;
    for (; entries.count > 0; entries.count--) {
        struct entry entry;
        size_t size = size_of_first(&entries);
        if (records->line_count == JITDUMP_RECORDS_LINES_MOST)
            break;
        memcpy(&entry, entries.at, size != 0 ? sizeof(entry) : 0);
        if (size == 0 || entry.address < entries.low ||
            entry.address > entries.high || entry.line < 0) {
            records->line_count = first;
            return 0;
        }
        file = entries.file != INTERN_NONE
                   ? entries.file
                   : file_of(reading, (const char *)entries.at + sizeof(entry),
                             size - sizeof(entry) - 1, file);
        if (file == INTERN_NONE ||
            !ARRAY_GROW(records->lines, records->line_count))
            return -1;
        records->lines[records->line_count++] =
            (struct jitdump_line){entry.address, (uint32_t)entry.line, file};
        entries.at += size;
        entries.length -= size;
    }
    return 0;
}

/* For qsort. */
static int
compare_lines(const void *a, const void *b)
{
    const struct jitdump_line *one = a, *two = b;
    return (one->address > two->address) - (one->address < two->address);
}

/* Most runtimes write lines in the order of addresses. */
static void
sort_lines(struct jitdump_line *lines, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (lines[i].address < lines[i - 1].address) {
            qsort(lines, count, sizeof(*lines), compare_lines);
            return;
        }
}

/* If all ENTRIES, which V8 wrote for the function NAME, can be of the file in
 * that name, they are. Some versions of V8 (Node 20) write freed memory as the
 * names of files, zeros among it; only the length is right. Returns 0, or -1 if
 * memory is short. */
static int
expect_file(struct reading *reading, const char *name, struct entries *entries)
{
    struct intern *texts = &reading->records->texts;
    struct symbol_frame frame;
    if (runtime_name_split(texts, name, &frame) != 0)
        return -1;
    size_t size = sizeof(struct entry) + strlen(frame.file) + 1;
    if (frame.file[0] == '\0' || entries->count > entries->length / size ||
        entries->length - entries->count * size >= PADDING)
        return 0;
    entries->size = size;
    entries->file = intern_string(texts, frame.file);
    return entries->file != INTERN_NONE ? 0 : -1;
}

/* Give CODE, which LOAD loads, the lines of the last record of lines, if that
 * is for the same address. */
static int
take_lines(struct reading *reading, const struct load *load,
           struct jitdump_code *code)
{
    struct jitdump_records *records = reading->records;
    struct lines head;
    size_t size = reading->lines.size;
    const uint8_t *bytes = bytes_at(reading, reading->lines.offset, size);
    if (bytes == NULL)
        return 0;
    memcpy(&head, bytes, sizeof(head));
    if (head.address != load->address ||
        load->address + load->size < load->size)
        return 0;
    const char *name = intern_bytes(&records->texts, code->name);
    bool is_v8 = runtime_name_is_v8(name);
    code->origin += is_v8 ? V8_SHIFT : 0;
    struct entries entries = {.at = bytes + sizeof(head),
                              .length = size - sizeof(head),
                              .count = head.count,
                              .low = code->origin,
                              .high = code->origin + load->size,
                              .file = INTERN_NONE};
    code->first_line = records->line_count;
    if ((is_v8 && expect_file(reading, name, &entries) != 0) ||
        add_lines(reading, entries) != 0)
        return -1;
    code->line_count = records->line_count - code->first_line;
    if (code->line_count > 0)
        sort_lines(records->lines + code->first_line, code->line_count);
    return 0;
}

/* Take the load of SIZE bytes at OFFSET. */
static int
take_load(struct reading *reading, uint64_t offset, uint32_t size)
{
    struct load load;
    size_t length = size - sizeof(load);
    if (length > RUNTIME_NAME_MOST)
        length = RUNTIME_NAME_MOST;
    const uint8_t *bytes = bytes_at(reading, offset, sizeof(load) + length);
    if (bytes == NULL)
        return 0;
    memcpy(&load, bytes, sizeof(load));
    const char *name = (const char *)bytes + sizeof(load);
    struct jitdump_code code = {
        .name =
            intern_put(&reading->records->texts, name, strnlen(name, length)),
        .origin = load.address,
    };
    if (code.name == INTERN_NONE ||
        (reading->lines.size > 0 && take_lines(reading, &load, &code) != 0))
        return -1;
    reading->lines.size = 0;
    return add_code(reading, &code, load.address, load.size, load.head.time);
}

/* The code that was loaded at the old address has its name and its lines at the
 * new one. Code that is not known to lie there is left alone. */
static int
take_move(struct reading *reading, uint64_t offset)
{
    static const struct jitdump_code nothing = {.name = INTERN_NONE};
    const uint8_t *bytes = bytes_at(reading, offset, sizeof(struct move));
    struct move move;
    if (bytes == NULL)
        return 0;
    memcpy(&move, bytes, sizeof(move));
    void *found = address_table_find(&reading->latest, 0, move.from);
    if (found == NULL)
        return 0;
    uint32_t number = (uint32_t)(uintptr_t)found - 1;
    struct jitdump_code code = reading->records->codes[number];
    const struct time_range *range = &reading->records->ranges[number];
    if (add_code(reading, &nothing, move.from, range->high - range->low,
                 move.head.time) != 0)
        return -1;
    return add_code(reading, &code, move.to, move.size, move.head.time);
}

/* Take the record at OFFSET, which lies in the file as HEAD says. A record that
 * is too small for its kind is skipped. */
static int
take_record(struct reading *reading, uint64_t offset, const struct head *head)
{
    if (head->time >= reading->until && !reading->records->has_no_times)
        return 0;
    if (head->kind == KIND_LOAD && head->size > sizeof(struct load))
        return take_load(reading, offset, head->size);
    if (head->kind == KIND_MOVE && head->size >= sizeof(struct move))
        return take_move(reading, offset);
    if (head->kind == KIND_LINES && head->size > sizeof(struct lines)) {
        reading->lines.offset = offset;
        reading->lines.size = head->size <= LINES_SIZE_MOST ? head->size : 0;
    }
    return 0;
}

/* Take all records from OFFSET on that lie whole in the file. */
static int
take_records(struct reading *reading, uint64_t offset)
{
    while (offset < reading->size &&
           reading->size - offset >= sizeof(struct head)) {
        struct head head;
        const uint8_t *bytes = bytes_at(reading, offset, sizeof(head));
        if (bytes == NULL)
            return 0;
        memcpy(&head, bytes, sizeof(head));
        if (head.size < sizeof(head)) {
            if (head.size != 0 || head.kind != 0 || head.time != 0)
                reading->why = "it is damaged: a record is smaller than its "
                               "head";
            return 0;
        }
        if (head.size > reading->size - offset)
            return 0;
        if (take_record(reading, offset, &head) != 0)
            return -1;
        offset += head.size;
    }
    return 0;
}

/* Check and read the header. Returns where records begin, 0 if the file is not
 * used. */
static uint64_t
take_header(struct reading *reading)
{
    struct header header;
    const uint8_t *bytes = bytes_at(reading, 0, sizeof(header));
    if (bytes == NULL) {
        /* A runtime that buffers its output has written nothing yet. */
        reading->why = reading->size == 0 ? "it is empty"
                                          : "it has no whole jitdump header";
        return 0;
    }
    memcpy(&header, bytes, sizeof(header));
    if (header.magic == MAGIC_SWAPPED)
        reading->why = "it is of a machine with another byte order";
    else if (header.magic != MAGIC)
        reading->why = "it does not begin as a jitdump";
    else if (header.version != VERSION)
        reading->why = "it is not of jitdump version 1";
    else if (header.size < sizeof(header))
        reading->why = "it is damaged: its header is too small";
    if (reading->why != NULL)
        return 0;
    reading->records->pid = header.pid;
    reading->records->time = header.time;
    reading->records->has_no_times = (header.flags & FLAG_ARCH_TIMES) != 0;
    return header.size;
}

int
jitdump_records_read(struct jitdump_records *records, int fd, uint64_t size,
                     uint64_t until, const char **why)
{
    struct reading reading = {.records = records,
                              .fd = fd,
                              .size = size,
                              .until = until};
    uint64_t first = take_header(&reading);
    int result = first != 0 ? take_records(&reading, first) : 0;
    *why = reading.why;
    address_table_free(&reading.latest);
    free(reading.window);
    return result;
}

void
jitdump_records_clear(struct jitdump_records *records)
{
    free(records->ranges);
    free(records->codes);
    free(records->lines);
    intern_clear(&records->texts);
    *records = (struct jitdump_records){0};
}
