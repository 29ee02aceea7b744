/* SPDX-License-Identifier: MIT */
/*
 * jitdump_records.c -- see jitdump_records.h. The file is read through a
 * window, because most of it is machine code that is passed over.
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

/* Most bytes of a record with lines; the lines of a larger one are left out. */
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

/* The entries follow: each with the name of its file behind it. */
struct lines {
    struct head head;
    uint64_t address, count;
};
struct entry {
    uint64_t address;
    int32_t line, discriminator;
};
_Static_assert(sizeof(struct entry) == 16, "as in the file");

struct reading {
    struct jitdump_records *records;
    int fd;
    uint64_t size, until;
    uint8_t *window; /* FILLED bytes of the file, from BEGIN on */
    uint64_t begin;
    size_t filled, room;
    struct address_table latest; /* (0, address): number + 1 of its last code */
    /* The last record of lines, for the next load at PENDING. */
    uint64_t pending;
    uint32_t first_line, line_count;
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
    if (code.name == INTERN_NONE)
        return -1;
    if (reading->line_count > 0 && reading->pending == load.address) {
        code.first_line = reading->first_line;
        code.line_count = reading->line_count;
        const char *kept = intern_bytes(&reading->records->texts, code.name);
        code.origin += runtime_name_is_v8(kept) ? V8_SHIFT : 0;
    }
    reading->line_count = 0;
    return add_code(reading, &code, load.address, load.size, load.head.time);
}

/* The code that was loaded at the old address has its name and its lines at the
 * new one. What is not known to lie there is left alone. */
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

/* Add the COUNT entries in the LENGTH bytes at AT, as far as they are whole. */
static int
add_lines(struct reading *reading, const uint8_t *at, size_t length,
          uint64_t count)
{
    struct jitdump_records *records = reading->records;
    uint32_t file = INTERN_NONE;
    struct entry entry;
    const uint8_t *zero = NULL;
    for (; count > 0 && length > sizeof(entry); count--) {
        const uint8_t *name = at + sizeof(entry);
        zero = memchr(name, '\0', length - sizeof(entry));
        if (zero == NULL || records->line_count == JITDUMP_RECORDS_LINES_MOST)
            break;
        memcpy(&entry, at, sizeof(entry));
        file =
            file_of(reading, (const char *)name, (size_t)(zero - name), file);
        if (file == INTERN_NONE ||
            !ARRAY_GROW(records->lines, records->line_count))
            return -1;
        records->lines[records->line_count++] = (struct jitdump_line){
            .address = entry.address,
            .line = entry.line > 0 ? (uint32_t)entry.line : 0,
            .file = file,
        };
        length -= (size_t)(zero + 1 - at);
        at = zero + 1;
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

static int
take_lines(struct reading *reading, uint64_t offset, uint32_t size)
{
    struct jitdump_records *records = reading->records;
    struct lines head;
    reading->line_count = 0;
    if (size > LINES_SIZE_MOST)
        return 0;
    const uint8_t *bytes = bytes_at(reading, offset, size);
    if (bytes == NULL)
        return 0;
    memcpy(&head, bytes, sizeof(head));
    reading->pending = head.address;
    reading->first_line = records->line_count;
    int result = add_lines(reading, bytes + sizeof(head), size - sizeof(head),
                           head.count);
    reading->line_count = records->line_count - reading->first_line;
    if (records->lines != NULL)
        sort_lines(records->lines + reading->first_line, reading->line_count);
    return result;
}

/* Take the record at OFFSET, which lies in the file as HEAD says. A record that
 * is too small for its kind is passed over. */
static int
take_record(struct reading *reading, uint64_t offset, const struct head *head)
{
    if (head->time >= reading->until && !reading->records->has_no_times)
        return 0;
    if (head->kind == KIND_LOAD && head->size > sizeof(struct load))
        return take_load(reading, offset, head->size);
    if (head->kind == KIND_MOVE && head->size >= sizeof(struct move))
        return take_move(reading, offset);
    if (head->kind == KIND_LINES && head->size > sizeof(struct lines))
        return take_lines(reading, offset, head->size);
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

/* Check the header and take what it says. Returns where records begin, 0 if the
 * file is not used. */
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
