/* SPDX-License-Identifier: MIT */
/*
 * perf_map.c -- reads a perf map and answers from it. Its lines may contain
 * anything; the worst result is a wrong name.
 *
 * Lines may overlap in any way. They are cut once into pieces that do not
 * overlap, each with the last line that covers it. The pieces are made from the
 * lowest address up. A heap holds the lines that have begun and not ended, the
 * last line on top.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "runtime_file.h"
#include "runtime_name.h"
#include "perf_map.h"

/* Limit of the bytes of a map that are read. A server that compiles for days
 * writes some ten megabytes. Only the beginning of a larger file is used. */
#define SIZE_MAX_READ ((size_t)128 << 20)

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

/* The value of digit C; 16, which ends every number, for other characters. */
static unsigned
digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 0x20; /* makes capitals small */
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Read a hexadecimal number, with or without 0x, and the blank after it.
 * Returns 0, or -1 without a number that fits into 64 bits. */
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
    if (length > RUNTIME_NAME_MOST)
        length = RUNTIME_NAME_MOST;
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

/* SIZE, or as many bytes as are read of the file at PATH, which has SIZE. */
static size_t
limit_size(struct perf_map *map, const char *path, size_t size)
{
    if (size <= SIZE_MAX_READ)
        return size;
    map->problem =
        clean_format("%s is larger than %zu MiB: what follows is not used",
                     path, SIZE_MAX_READ >> 20);
    return SIZE_MAX_READ;
}

struct perf_map *
perf_map_open(const char *path, uint64_t start, uint64_t end)
{
    struct perf_map *map = calloc(1, sizeof(*map));
    struct stat status;
    if (map == NULL)
        return NULL;
    int fd = runtime_file_open(path, start, end, &status, &map->problem);
    if (fd < 0)
        return map;
    size_t size = limit_size(map, path, (size_t)status.st_size);
    map->text = malloc(size + 1);
    if (map->text != NULL)
        size = read_text(map, fd, size);
    close(fd);
    if (map->text != NULL && add_lines(map, size) == 0 && make_pieces(map) == 0)
        return map;
    perf_map_close(map);
    return NULL;
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
        runtime_name_split(&map->store, name, frame) != 0) {
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
