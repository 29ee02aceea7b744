/* SPDX-License-Identifier: MIT */
/*
 * image.c -- puts the parts of a file together. Report side.
 *
 * Everything that grows with the size of the file is read once, when the file
 * is opened: the symbols and the units' ranges. A missing part is not an error.
 * A file without DWARF still has symbols, and a file without symbols may have
 * DWARF.
 */
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/clean.h"
#include "code_edge.h"
#include "elf_file.h"
#include "frame_table.h"
#include "plt_table.h"
#include "symbol_table.h"
#include "unit_index.h"
#include "image.h"

struct image {
    struct elf_file file;
    struct symbol_table symbols;
    struct plt_table plt;
    struct frame_table frames;
    struct unit_index units;
    /* PLT and FRAMES read the file through this view. In an image that was
     * opened for symbols alone, the names of SYMBOLS point into it, too. */
    struct sketch sketch;
};

/* The name for ADDRESS in a PLT; NULL if unknown. A stub for an IFUNC of the
 * same file has no name, but the function that chooses the target has the same
 * one. */
static const char *
find_stub(struct image *image, uint64_t address)
{
    struct plt_target target;
    uint64_t start;
    if (plt_table_find(&image->plt, &image->sketch.file, address, &target) != 0)
        return NULL;
    if (target.name != NULL)
        return target.name;
    return symbol_table_find(&image->symbols, target.resolver, &start);
}

struct image *
image_open(const char *path, const uint8_t *build_id, size_t length)
{
    struct image *image = calloc(1, sizeof(*image));
    if (image != NULL &&
        elf_file_open(&image->file, path, build_id, length) == 0) {
        size_t size;
        const char *bytes = elf_rawfile(image->file.elf, &size);
        if (elf_view_open_memory(&image->sketch.file, bytes, size) == 0)
            frame_table_read(&image->frames, &image->sketch.file);
        if (symbol_table_read(&image->symbols, &image->file) != 0 ||
            unit_index_read(&image->units, &image->file) != 0) {
            image_close(image);
            return NULL;
        }
    }
    return image;
}

struct image *
image_refuse(const char *path, const char *why)
{
    struct image *image = calloc(1, sizeof(*image));
    if (image != NULL)
        image->file.problem = clean_format("%s %s", path, why);
    return image;
}

struct image *
image_open_brief(struct sketch *sketch, const struct symbol_question *questions,
                 size_t count)
{
    struct image *image = calloc(1, sizeof(*image));
    if (image == NULL) {
        sketch_close(sketch);
        return NULL;
    }
    image->sketch = *sketch;
    frame_table_read(&image->frames, &image->sketch.file);
    if (sketch_read(&image->sketch, questions, count, &image->symbols) != 0) {
        image_close(image);
        return NULL;
    }
    return image;
}

/* Whether a symbol or the DWARF names the function that owns the code. */
static bool
has_name(const struct image_answer *answer)
{
    return answer->symbol != NULL ||
           (answer->count > 0 &&
            answer->frames[answer->count - 1].name != NULL);
}

/* The name of the symbol that covers ADDRESS. One without a size reaches to the
 * end of its function. After that, *START becomes where the function of
 * ADDRESS begins. */
static const char *
find_name(const struct image *image, uint64_t address, uint64_t *start)
{
    uint64_t symbol, end;
    const char *name = symbol_table_find(&image->symbols, address, &symbol);
    *start = symbol;
    if (name == NULL || symbol == address)
        return name;
    if (!frame_table_find(&image->frames, address, start, &end))
        *start = code_edge_last(&image->sketch.file, symbol, address);
    return *start <= symbol ? name : NULL;
}

/* The PLT comes last, only for addresses that neither DWARF nor symbols cover:
 * finding its section means reading all section headers. */
void
image_find(struct image *image, uint64_t address, struct image_answer *answer,
           unsigned limit)
{
    answer->symbol = find_name(image, address, &answer->start);
    answer->is_stub = false;
    answer->count =
        unit_index_find(&image->units, address, answer->frames, limit);
    if (!has_name(answer) && answer->count == 0) {
        answer->symbol = find_stub(image, address);
        answer->is_stub = answer->symbol != NULL;
    }
    uint64_t end;
    if (!has_name(answer))
        frame_table_find(&image->frames, address, &answer->start, &end);
}

const char *
image_before(const struct image *image, uint64_t address, uint64_t *start)
{
    const struct elf_view *file = &image->sketch.file;
    const struct range *range =
        range_index_before(&image->symbols.ranges, address);
    if (range == NULL ||
        elf_view_code(file, range->low) != elf_view_code(file, address))
        return NULL;
    *start = range->low;
    return image->symbols.names[range->value];
}

const char *
image_problem(const struct image *image)
{
    if (image->file.module != NULL || image->sketch.symbols.all != NULL)
        return NULL;
    return image->file.problem != NULL
               ? image->file.problem
               : "memory was short for a module's symbols";
}

const char *
image_unread(const struct image *image)
{
    return image->file.unread;
}

unsigned
image_flags(const struct image *image)
{
    return (image->symbols.ranges.count > 0 ? SYMBOLIZER_SYMBOLS : 0u) |
           (image->units.has_lines ? SYMBOLIZER_LINES : 0u);
}

void
image_close(struct image *image)
{
    if (image == NULL)
        return;
    unit_index_free(&image->units);
    plt_table_free(&image->plt);
    symbol_table_free(&image->symbols);
    sketch_close(&image->sketch);
    elf_file_close(&image->file);
    free(image);
}
