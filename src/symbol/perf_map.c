/* SPDX-License-Identifier: MIT */
/*
 * perf_map.c -- reads a perf map and answers from it. Every user can write to
 * the folder of these files. So no link is followed, nothing that could block
 * is opened, and owner and size are those of the open file. Its lines may say
 * anything; the worst result is a wrong name.
 *
 * Lines may overlap in any way. They are cut once into pieces that do not
 * overlap, each with the last line that covers it. The pieces are made from the
 * lowest address up. A heap holds the lines that have begun and not ended, the
 * last line on top.
 *
 * Each runtime packs function, file and line into one name in its own way:
 *
 *   JS:*leaf /tmp/t.js:1:14               V8: leaf, /tmp/t.js, 1
 *   LazyCompile:~leaf /tmp/t.js:1:14      V8 until 9.6: the same
 *   JS:^ /tmp/t.js:7:9                    V8: (anonymous t.js:7:9), ...
 *   py::Outer.leaf:/tmp/t.py              CPython: Outer.leaf, /tmp/t.py
 *   TRACE_7::t.lua:12                     LuaJIT: TRACE_7::t.lua:12, t.lua, 12
 *   Lcom/foo/Bar;::baz                    perf-map-agent: com.foo.Bar.baz
 *   long T.work(long)                     the JVM: as it is
 *   Builtin:ArrayMap, Interpreter         code of the runtime: as it is
 *
 * V8's sign before the name says how far the function was compiled: ~ not, ^
 * and + fast, * in full. One function may have several such codes; they are
 * shown as one function.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/path.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "perf_map.h"

/* Most bytes of a map that are read. A server that compiles for days writes
 * some ten megabytes. Only the beginning of a larger file is used. */
#define SIZE_MAX_READ ((size_t)128 << 20)
#define NAME_MAX_LENGTH 4096

#define NS_PER_SECOND 1000000000u

/* Seconds that a map may be written after our last look at the process. Some
 * runtimes write it at their very end. */
#define LATER_SECONDS 60

struct entry {
    uint64_t low, high; /* [low, high) */
    const char *name;   /* points into the text; not terminated */
    uint32_t line, length;
    struct symbol *symbol; /* NULL until the first question */
};

struct piece {
    uint64_t low, high;
    uint32_t entry;
};

struct perf_map {
    char *text;
    struct entry *entries; /* sorted by LOW */
    size_t entry_count;
    struct piece *pieces; /* sorted, without overlaps */
    size_t piece_count;
    struct intern store;
    char *problem;
};

/* The entries that cover the address up to which pieces have been made, and
 * perhaps some that have ended. The entry of the last line is on top. An item
 * has the line in its upper half and the entry in its lower half. */
struct heap {
    uint64_t *items;
    size_t count;
};

/* The value of digit C; 16, which ends every number, if it is none. */
static unsigned
digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 0x20; /* makes capitals small */
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Read a hexadecimal number, with or without 0x, and the blank behind it.
 * Returns 0, or -1 if there is none that fits into 64 bits. */
static int
take_number(const char **at, const char *end, uint64_t *number)
{
    const char *p = *at;
    if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    if (p == end || *p == ' ')
        return -1;
    for (*number = 0; p < end && digit_value(*p) < 16; p++) {
        if (*number >> 60 != 0)
            return -1;
        *number = *number << 4 | digit_value(*p);
    }
    if (p == end || *p != ' ')
        return -1;
    *at = p + 1;
    return 0;
}

/* Add the entry of the line from AT to END. A line that makes no sense is
 * ignored. Returns 0, or -1 if memory is short. */
static int
add_line(struct perf_map *map, const char *at, const char *end)
{
    uint64_t start, size;
    if (take_number(&at, end, &start) != 0 ||
        take_number(&at, end, &size) != 0 || size == 0 ||
        start + size < start || at == end)
        return 0;
    struct entry *entries =
        array_room(map->entries, map->entry_count, sizeof(*entries));
    if (map->entry_count == UINT32_MAX || entries == NULL)
        return -1;
    map->entries = entries;
    size_t length = (size_t)(end - at);
    if (length > NAME_MAX_LENGTH)
        length = NAME_MAX_LENGTH;
    entries[map->entry_count] = (struct entry){
        .low = start,
        .high = start + size,
        .name = at,
        .line = (uint32_t)map->entry_count,
        .length = (uint32_t)length,
    };
    map->entry_count++;
    return 0;
}

/* Add all lines. A last line without a newline is still being written and is
 * ignored. */
static int
add_lines(struct perf_map *map, size_t length)
{
    const char *at = map->text, *end = map->text + length;
    const char *newline;
    for (; (newline = memchr(at, '\n', (size_t)(end - at))) != NULL;
         at = newline + 1)
        if (add_line(map, at, newline) != 0)
            return -1;
    return 0;
}

/* For qsort: by address, then by line. */
static int
compare_entries(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;
    if (one->low != two->low)
        return one->low < two->low ? -1 : 1;
    return one->line < two->line ? -1 : one->line > two->line;
}

static void
swap_items(struct heap *heap, size_t a, size_t b)
{
    uint64_t item = heap->items[a];
    heap->items[a] = heap->items[b];
    heap->items[b] = item;
}

static void
push_item(struct heap *heap, uint64_t item)
{
    size_t at = heap->count++;
    heap->items[at] = item;
    for (; at > 0 && heap->items[at] > heap->items[(at - 1) / 2];
         at = (at - 1) / 2)
        swap_items(heap, at, (at - 1) / 2);
}

/* Remove the top. */
static void
pop_item(struct heap *heap)
{
    size_t at = 0;
    heap->items[0] = heap->items[--heap->count];
    size_t child;
    while ((child = 2 * at + 1) < heap->count) {
        if (child + 1 < heap->count &&
            heap->items[child + 1] > heap->items[child])
            child++;
        if (heap->items[child] < heap->items[at])
            break;
        swap_items(heap, at, child);
        at = child;
    }
}

static int
add_piece(struct perf_map *map, uint64_t low, uint64_t high, uint32_t entry)
{
    struct piece *last =
        map->piece_count != 0 ? &map->pieces[map->piece_count - 1] : NULL;
    if (last != NULL && last->entry == entry && last->high == low) {
        last->high = high;
        return 0;
    }
    if (!ARRAY_GROW(map->pieces, map->piece_count))
        return -1;
    map->pieces[map->piece_count++] = (struct piece){low, high, entry};
    return 0;
}

/* Make the pieces from LOW to HIGH from the entries in HEAP. */
static int
add_pieces(struct perf_map *map, struct heap *heap, uint64_t low, uint64_t high)
{
    while (heap->count > 0 && low < high) {
        uint32_t top = (uint32_t)heap->items[0];
        uint64_t stop = map->entries[top].high;
        if (stop <= low) {
            pop_item(heap);
            continue;
        }
        if (stop > high)
            stop = high;
        if (add_piece(map, low, stop, top) != 0)
            return -1;
        low = stop;
    }
    return 0;
}

/* Make all pieces. Each line enters and leaves the heap once, so this takes n
 * log n whatever overlaps. */
static int
make_pieces(struct perf_map *map)
{
    struct heap heap = {0};
    uint64_t low = 0;
    int result = 0;
    if (map->entry_count == 0)
        return 0;
    heap.items = calloc(map->entry_count, sizeof(*heap.items));
    if (heap.items == NULL)
        return -1;
    qsort(map->entries, map->entry_count, sizeof(*map->entries),
          compare_entries);
    for (size_t i = 0; i < map->entry_count && result == 0; i++) {
        result = add_pieces(map, &heap, low, map->entries[i].low);
        low = map->entries[i].low;
        push_item(&heap, (uint64_t)map->entries[i].line << 32 | i);
    }
    if (result == 0)
        result = add_pieces(map, &heap, low, UINT64_MAX);
    free(heap.items);
    return result;
}

/* Fill the map's text from FD. Returns the number of bytes read. */
static size_t
read_text(struct perf_map *map, int fd, size_t size)
{
    size_t length = 0;
    while (length < size) {
        ssize_t got = read(fd, map->text + length, size - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    return length;
}

/* Whether STATUS is that of a usable file. File systems round times down, some
 * to a second. */
static bool
is_usable(struct perf_map *map, const char *path, const struct stat *status,
          uint64_t start, uint64_t end)
{
    uint64_t written = (uint64_t)status->st_mtim.tv_sec;
    if (!S_ISREG(status->st_mode))
        map->problem =
            clean_format("%s is not used: it is no regular file", path);
    else if (status->st_uid != geteuid() && status->st_uid != 0)
        map->problem = clean_format("%s is not used: it belongs to user %u",
                                    path, (unsigned)status->st_uid);
    else if (written < start / NS_PER_SECOND)
        map->problem =
            clean_format("%s is not used: it is older than the process", path);
    else if (written > end / NS_PER_SECOND + LATER_SECONDS)
        map->problem = clean_format(
            "%s is not used: it was written after the process had ended", path);
    return map->problem == NULL && S_ISREG(status->st_mode);
}

static int
open_file(struct perf_map *map, const char *path, uint64_t start, uint64_t end,
          size_t *size)
{
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        if (errno != ENOENT)
            map->problem =
                clean_format("%s is not used: %s", path, strerror(errno));
        return -1;
    }
    struct stat status;
    if (fstat(fd, &status) != 0 || !is_usable(map, path, &status, start, end)) {
        close(fd);
        return -1;
    }
    *size = (size_t)status.st_size;
    if (*size > SIZE_MAX_READ) {
        *size = SIZE_MAX_READ;
        map->problem =
            clean_format("%s is larger than %zu MiB: what follows is not used",
                         path, SIZE_MAX_READ >> 20);
    }
    return fd;
}

struct perf_map *
perf_map_open(const char *path, uint64_t start, uint64_t end)
{
    struct perf_map *map = calloc(1, sizeof(*map));
    size_t size = 0;
    if (map == NULL)
        return NULL;
    int fd = open_file(map, path, start, end, &size);
    if (fd < 0)
        return map;
    map->text = malloc(size + 1);
    if (map->text != NULL)
        size = read_text(map, fd, size);
    close(fd);
    if (map->text != NULL && add_lines(map, size) == 0 && make_pieces(map) == 0)
        return map;
    perf_map_close(map);
    return NULL;
}

/* A part of a name. TEXT has no terminator. */
struct part {
    const char *text;
    size_t length;
};

/* Keep PART in STORE. NULL if memory is short. */
static const char *
keep_part(struct intern *store, struct part part)
{
    return intern_format(store, "%.*s", (int)part.length, part.text);
}

/* Cut ":NUMBER" off the end of PLACE and return it. 0 if there is none. */
static unsigned
cut_number(struct part *place)
{
    size_t at = place->length;
    while (at > 0 && place->text[at - 1] >= '0' && place->text[at - 1] <= '9')
        at--;
    if (at == 0 || at == place->length || place->text[at - 1] != ':')
        return 0;
    const char *digits = place->text + at;
    uint64_t number = digits_take(&digits);
    place->length = at - 1;
    return number < 1u << 31 ? (unsigned)number : 0;
}

/* Find the beginning of FILE in V8's "NAME FILE:LINE:COLUMN". NULL if there is
 * none. Both NAME and FILE may contain blanks ("get size", "my files/t.js"),
 * but what FILE begins with is seldom in a name. */
static const char *
find_place(const char *text)
{
    static const char *const beginnings[] = {" /", " file:", " node:"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        const char *at = strstr(text, beginnings[i]);
        if (at != NULL && (found == NULL || at < found))
            found = at;
    }
    if (found == NULL)
        found = strrchr(text, ' ');
    return found != NULL ? found + 1 : NULL;
}

/* TEXT is "*NAME FILE:LINE:COLUMN". */
static int
split_v8(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *start =
        text + (*text != '\0' && strchr("~^+-*", *text) != NULL ? 1 : 0);
    const char *found = find_place(start);
    struct part name = {start, found != NULL ? (size_t)(found - 1 - start) : 0};
    struct part place = {found, found != NULL ? strlen(found) : 0};
    /* The column stands last. If there is only one number, it is the line. */
    unsigned line;
    if (found == NULL || (line = cut_number(&place)) == 0)
        return 0;
    frame->start_line = cut_number(&place);
    if (frame->start_line == 0)
        frame->start_line = line;
    frame->file = keep_part(store, place);
    /* Functions without a name are told apart by their places. */
    frame->function = name.length == 0 ? intern_format(store, "(anonymous %s)",
                                                       path_name(found))
                                       : keep_part(store, name);
    return frame->function != NULL && frame->file != NULL ? 0 : -1;
}

/* TEXT is "NAME:FILE". */
static int
split_python(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text)
        return 0;
    frame->function =
        keep_part(store, (struct part){text, (size_t)(colon - text)});
    frame->file = intern_text(store, colon + 1);
    return frame->function != NULL && frame->file != NULL ? 0 : -1;
}

/* TEXT is "7::FILE:LINE". The trace's own name stays whole. */
static int
split_luajit(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *found = strstr(text, "::");
    struct part place = {found != NULL ? found + 2 : text, 0};
    if (found == NULL)
        return 0;
    place.length = strlen(place.text);
    frame->start_line = cut_number(&place);
    if (frame->start_line == 0)
        return 0;
    frame->file = keep_part(store, place);
    return frame->file != NULL ? 0 : -1;
}

/* TEXT is "com/foo/Bar;::baz". */
static int
split_java(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *semicolon = strstr(text, ";::");
    if (semicolon == NULL)
        return 0;
    char *name;
    if (asprintf(&name, "%.*s.%s", (int)(semicolon - text), text,
                 semicolon + 3) < 0)
        return -1;
    for (char *at = name; at < name + (semicolon - text); at++)
        if (*at == '/')
            *at = '.';
    frame->function = intern_text(store, name);
    free(name);
    return frame->function != NULL ? 0 : -1;
}

/* The runtimes by the beginning of their names. Each function leaves the frame
 * alone if the rest does not have the form it expects. */
static const struct {
    const char *prefix;
    int (*split)(struct intern *, const char *, struct symbol_frame *);
} forms[] = {
    {"JS:", split_v8},        {"LazyCompile:", split_v8},
    {"Function:", split_v8},  {"Script:", split_v8},
    {"Eval:", split_v8},      {"py::", split_python},
    {"TRACE_", split_luajit}, {"L", split_java},
};

/* Fill FRAME from NAME, with strings in STORE. LINKAGE becomes NAME itself. A
 * NAME of no known form becomes the function. The line in a map is where the
 * function begins, so LINE stays 0. Returns 0, or -1 if memory is short. */
static int
split_name(struct intern *store, const char *name, struct symbol_frame *frame)
{
    *frame = (struct symbol_frame){.file = ""};
    frame->function = frame->linkage = intern_text(store, name);
    if (frame->linkage == NULL)
        return -1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t length = strlen(forms[i].prefix);
        if (strncmp(name, forms[i].prefix, length) == 0)
            return forms[i].split(store, name + length, frame);
    }
    return 0;
}

/* Make the symbol of ENTRY, at the first question for it. NULL if memory is
 * short. */
static struct symbol *
make_symbol(struct perf_map *map, const struct entry *entry)
{
    struct symbol *symbol = intern_space(&map->store, sizeof(*symbol));
    struct symbol_frame *frame = intern_space(&map->store, sizeof(*frame));
    char *name = strndup(entry->name, entry->length);
    if (symbol == NULL || frame == NULL || name == NULL ||
        split_name(&map->store, name, frame) != 0) {
        free(name);
        return NULL;
    }
    free(name);
    *symbol = (struct symbol){.count = 1, .named = true, .frames = frame};
    return symbol;
}

const struct symbol *
perf_map_find(struct perf_map *map, uint64_t address)
{
    size_t low = 0, high = map->piece_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->pieces[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == map->piece_count || address < map->pieces[low].low)
        return NULL;
    struct entry *entry = &map->entries[map->pieces[low].entry];
    if (entry->symbol == NULL)
        entry->symbol = make_symbol(map, entry);
    return entry->symbol;
}

const char *
perf_map_problem(const struct perf_map *map)
{
    return map->problem;
}

void
perf_map_close(struct perf_map *map)
{
    if (map == NULL)
        return;
    intern_clear(&map->store);
    free(map->problem);
    free(map->pieces);
    free(map->entries);
    free(map->text);
    free(map);
}
