/* SPDX-License-Identifier: MIT */
/*
 * page_source.c -- writes
 *
 *   {"files": [{"name": "/src/app.c", "isNewer": false,
 *               "lines": [[7, "void work(void)"], [8, "{"]]}],
 *    "missing": [{"name": "/src/gone.c", "problem": "No such file..."}]}
 *
 * The head block has the cost of each line in its frames, so this element has
 * only the texts. Each line of a file is written once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/source_file.h"
#include "util/json.h"
#include "view/lines.h"
#include "page_stream.h"
#include "page_source.h"

/* Lines FIRST to LAST of a function. COST is its own CPU time plus its own wall
 * time, in ns. The functions with the largest COST are written. FILE_COST is
 * the sum over those of them that are in the same file. */
struct piece {
    const char *file;
    unsigned first, last;
    uint64_t cost, file_cost;
};

/* For qsort: the most time first. */
static int
compare_costs(const void *a, const void *b)
{
    const struct piece *one = a, *two = b;
    int order = (one->cost < two->cost) - (one->cost > two->cost);
    return order != 0 ? order : strcmp(one->file, two->file);
}

/* For qsort: the file with the most time first, its lines in their order. */
static int
compare_places(const void *a, const void *b)
{
    const struct piece *one = a, *two = b;
    int order =
        (one->file_cost < two->file_cost) - (one->file_cost > two->file_cost);
    if (order == 0)
        order = strcmp(one->file, two->file);
    return order != 0 ? order
                      : (one->first > two->first) - (one->first < two->first);
}

/* Collect the functions of LINES that have a file. Returns the pieces, which
 * the caller frees; NULL if memory is short. */
static struct piece *
collect(const struct table *lines, size_t *count)
{
    struct piece *pieces = calloc(lines->count + 1u, sizeof(*pieces));
    uint32_t rows;
    *count = 0;
    for (uint32_t i = 0; pieces != NULL && i < lines->count; i += rows) {
        const struct table_row *row = &lines->rows[i];
        uint32_t nameless = 0;
        rows = lines_of_function(lines, i);
        while (nameless < rows && row[nameless].line == 0)
            nameless++;
        if (row->file[0] == '\0' || nameless == rows)
            continue;
        struct piece *piece = &pieces[(*count)++];
        piece->file = row->file;
        lines_range(row + nameless, rows - nameless, &piece->first,
                    &piece->last);
        for (uint32_t j = 0; j < rows; j++) {
            sum_add(&piece->cost, row[j].flat[VALUE_CPU]);
            sum_add(&piece->cost, row[j].flat[VALUE_WALL]);
        }
    }
    return pieces;
}

/* Write the lines of the pieces of one file, which are sorted. *LEFT is the
 * number of bytes that may still be written. */
static void
add_lines(struct json *json, struct source_file *source,
          const struct piece *piece, const struct piece *end, size_t *left)
{
    json_name_open(json, "lines", '[');
    while (piece < end && source_file_next(source)) {
        while (piece < end && source->number > piece->last)
            piece++;
        if (piece == end || source->number < piece->first)
            continue;
        size_t length = strlen(source->line);
        if (length >= *left)
            break;
        *left -= length + 1;
        json_open(json, '[');
        json_number(json, source->number);
        json_string(json, source->line);
        json_close(json, ']');
    }
    json_close(json, ']');
}

/* Returns the first piece after PIECE of another file, or END. */
static const struct piece *
end_of_file(const struct piece *piece, const struct piece *end)
{
    const char *file = piece->file;
    while (piece < end && strcmp(piece->file, file) == 0)
        piece++;
    return piece;
}

static void
add_files(struct json *json, const struct profile *profile,
          const struct piece *piece, const struct piece *end)
{
    size_t left = PAGE_SOURCE_BYTES;
    const char *problem;
    json_name_open(json, "files", '[');
    for (const struct piece *next; piece < end; piece = next) {
        struct source_file source;
        next = end_of_file(piece, end);
        if (source_file_open(&source, piece->file, &problem) != 0)
            continue;
        json_open(json, '{');
        json_name_string(json, "name", piece->file);
        json_name_bool(json, "isNewer",
                       (uint64_t)source.changed > profile->start / 1000000000u);
        add_lines(json, &source, piece, next, &left);
        json_close(json, '}');
        source_file_close(&source);
    }
    json_close(json, ']');
}

static void
add_missing(struct json *json, const struct piece *piece,
            const struct piece *end)
{
    const char *problem;
    json_name_open(json, "missing", '[');
    for (; piece < end; piece = end_of_file(piece, end)) {
        struct source_file source;
        if (source_file_open(&source, piece->file, &problem) == 0) {
            source_file_close(&source);
            continue;
        }
        json_open(json, '{');
        json_name_string(json, "name", piece->file);
        json_name_string(json, "problem", problem);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* The file_cost of all COUNT pieces. */
static void
sum_files(struct piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (strcmp(pieces[i].file, pieces[j].file) == 0)
                sum_add(&pieces[i].file_cost, pieces[j].cost);
}

/* Bring those that are written to the front, in the order of the page. Returns
 * how many they are. */
static size_t
choose(struct piece *pieces, size_t count)
{
    if (count == 0)
        return 0;
    qsort(pieces, count, sizeof(*pieces), compare_costs);
    if (count > PAGE_SOURCE_FUNCTIONS)
        count = PAGE_SOURCE_FUNCTIONS;
    sum_files(pieces, count);
    qsort(pieces, count, sizeof(*pieces), compare_places);
    return count;
}

static void
write_json(FILE *stream, const struct profile *profile, struct piece *pieces,
           size_t count)
{
    struct json json;
    count = choose(pieces, count);
    json_begin(&json, stream);
    json_open(&json, '{');
    add_files(&json, profile, pieces, pieces + count);
    add_missing(&json, pieces, pieces + count);
    json_close(&json, '}');
    (void)json_end(&json);
}

/* The JSON in memory, which the caller frees; NULL if memory is short. */
static char *
make_json(struct profile *profile, const struct table *lines, size_t *size)
{
    char *text = NULL;
    size_t count;
    struct piece *pieces = collect(lines, &count);
    FILE *memory = pieces != NULL ? open_memstream(&text, size) : NULL;
    if (memory != NULL)
        write_json(memory, profile, pieces, count);
    free(pieces);
    if (memory == NULL || fclose(memory) == 0)
        return text;
    free(text);
    return NULL;
}

int
page_source_write(FILE *stream, struct profile *profile)
{
    struct table lines;
    char error[256];
    size_t size;
    int status = -1;
    if (lines_build(&lines, profile, NULL, error, sizeof(error)) != 0) {
        errno = ENOMEM;
        return -1;
    }
    char *text = make_json(profile, &lines, &size);
    table_release(&lines);
    if (text != NULL)
        status = page_stream_element(stream, "sprof-source", text, size);
    else
        errno = ENOMEM;
    free(text);
    return status;
}
