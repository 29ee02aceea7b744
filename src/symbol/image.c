/* SPDX-License-Identifier: MIT */
/*
 * image.c -- the parts of a file put together. Report side.
 *
 * Everything that depends on the size of the file is read once, at opening:
 * the symbols, the units' ranges. What a part lacks is not an error: a file
 * without DWARF still has symbols, and the other way round.
 */
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"
#include "frame_table.h"
#include "image.h"
#include "plt_table.h"
#include "symbol_table.h"
#include "unit_index.h"

struct image {
    struct elf_file file;
    struct symbol_table symbols;
    struct plt_table plt;
    struct frame_table frames;
    struct unit_index units;
    /* Its view of the file is for PLT and FRAMES; of an image that was opened
     * briefly it has the names of SYMBOLS, too. */
    struct sketch sketch;
    char *path;
    uint8_t *build_id;
    size_t build_id_length;
};

/* The symbol for ADDRESS in a PLT. A stub for an IFUNC of the same file has no
 * name, but the function that chooses the target is called like it. */
static const char *
find_stub(struct image *image, uint64_t address)
{
    struct plt_target target;

    if (plt_table_find(&image->plt, &image->sketch.file, address, &target))
        return (NULL);
    if (target.name)
        return (target.name);
    return (symbol_table_find(&image->symbols, target.resolver));
}

/* An image that knows nothing yet but what it is of; NULL if memory is short.
 */
static struct image *
make(const char *path, const uint8_t *build_id, size_t length)
{
    struct image *image = calloc(1, sizeof(*image));

    if (!image)
        return (NULL);
    image->path = strdup(path);
    image->build_id = malloc(length + 1);
    if (!image->path || !image->build_id) {
        image_close(image);
        return (NULL);
    }
    if (length > 0)
        memcpy(image->build_id, build_id, length);
    image->build_id_length = length;
    return (image);
}

struct image *
image_open(const char *path, const uint8_t *build_id, size_t length)
{
    struct image *image = make(path, build_id, length);
    const char *bytes;
    size_t size;

    if (image && elf_file_open(&image->file, path, build_id, length) == 0) {
        bytes = elf_rawfile(image->file.elf, &size);
        if (elf_view_open_memory(&image->sketch.file, bytes, size) == 0)
            frame_table_read(&image->frames, &image->sketch.file);
        if (symbol_table_read(&image->symbols, &image->file) ||
            unit_index_read(&image->units, &image->file)) {
            image_close(image);
            return (NULL);
        }
    }
    return (image);
}

struct image *
image_open_brief(const char *path, const uint8_t *build_id, size_t length,
                 struct sketch *sketch, const uint64_t *addresses, size_t count)
{
    struct image *image = make(path, build_id, length);

    if (!image) {
        sketch_close(sketch);
        return (NULL);
    }
    image->sketch = *sketch;
    frame_table_read(&image->frames, &image->sketch.file);
    if (sketch_read(&image->sketch, addresses, count, &image->symbols)) {
        image_close(image);
        return (NULL);
    }
    return (image);
}

/* One path can have had two files, one after the other: the build-id tells them
 * apart. */
bool
image_is(const struct image *image, const char *path, const uint8_t *build_id,
         size_t length)
{
    return (image->build_id_length == length &&
            strcmp(image->path, path) == 0 &&
            (length == 0 || memcmp(image->build_id, build_id, length) == 0));
}

/* Whether somebody knows what the code is called. */
static bool
has_name(const struct image_answer *answer)
{
    return (answer->symbol ||
            (answer->count > 0 && answer->frames[answer->count - 1].name));
}

/* The PLT is asked late, for what neither DWARF nor symbols know: looking for
 * its section goes through all section headers. */
void
image_find(struct image *image, uint64_t address, struct image_answer *answer,
           unsigned limit)
{
    answer->symbol = symbol_table_find(&image->symbols, address);
    answer->is_stub = false;
    answer->start = address;
    answer->count =
        unit_index_find(&image->units, address, answer->frames, limit);
    if (!has_name(answer) && answer->count == 0) {
        answer->symbol = find_stub(image, address);
        answer->is_stub = answer->symbol != NULL;
    }
    if (!has_name(answer))
        frame_table_find(&image->frames, address, &answer->start);
}

const char *
image_problem(const struct image *image)
{
    if (image->file.module || image->sketch.symbols)
        return (NULL);
    return (image->file.problem ? image->file.problem
                                : "memory was short for a module's symbols");
}

bool
image_has_symbols(const struct image *image)
{
    return (image->symbols.ranges.count > 0);
}

bool
image_has_lines(const struct image *image)
{
    return (image->units.has_lines);
}

void
image_close(struct image *image)
{
    unit_index_free(&image->units);
    plt_table_free(&image->plt);
    symbol_table_free(&image->symbols);
    sketch_close(&image->sketch);
    elf_file_close(&image->file);
    free(image->build_id);
    free(image->path);
    free(image);
}
