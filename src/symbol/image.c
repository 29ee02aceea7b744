/* SPDX-License-Identifier: MIT */
/*
 * image.c -- puts the parts of a file together. Report side.
 *
 * Everything that grows with the size of the file is read once, when the file
 * is opened: the symbols and the units' ranges. A missing part is not an error.
 * A file without DWARF still has symbols, and a file without symbols may have
 * DWARF.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "elf_file.h"
#include "plt_table.h"
#include "symbol_table.h"
#include "unit_index.h"
#include "image.h"

/* The forms that linkers write: 4 bytes each, relative to the table. */
#define TABLE_FORM (DW_EH_PE_datarel | DW_EH_PE_sdata4)
#define TABLE_ROW 8
#define SIZE_MASK 0x0f

/*
 * Where functions without a name begin: .eh_frame has an entry for each
 * function, and .eh_frame_hdr has the sorted table of their beginnings
 * (LSB 5.0, Core, section 10.6). Unwinders need both, so strip(1) leaves them.
 *
 * The table is searched in place. Of the entry it leads to, only the length of
 * the code is read, because code without an entry may follow. All of it may be
 * damaged: an address that does not fit belongs to no function.
 */
struct frame_table {
    struct bytes table, entries;          /* in the file */
    uint64_t table_base, entries_address; /* the file's own numbering */
    uint64_t count;
};

struct image {
    struct elf_file file;
    struct symbol_table symbols;
    struct plt_table plt;
    struct frame_table frames;
    struct unit_index units;
    /* PLT and FRAMES read the file through this view. In an image that was
     * opened briefly, the names of SYMBOLS point into it too. */
    struct sketch sketch;
};

/* The size of a pointer in FORM, in bytes. 0 if the size is not fixed. */
static unsigned
pointer_size(unsigned form)
{
    switch (form & SIZE_MASK) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return 8;
    default:
        return 0;
    }
}

/* The section of FILE called NAME. *ADDRESS gets the address where it is
 * loaded. */
static struct bytes
find_section(const struct elf_view *file, const char *name, uint64_t *address)
{
    const Elf64_Shdr *section = elf_view_section(file, name);
    if (section == NULL)
        return (struct bytes){0};
    *address = section->sh_addr;
    return elf_view_content(file, section);
}

/* Find the table of FILE. It is empty if the file has no table or one of an
 * unusual form. */
static void
read_frames(struct frame_table *table, const struct elf_view *file)
{
    struct bytes at = find_section(file, ".eh_frame_hdr", &table->table_base);
    table->entries = find_section(file, ".eh_frame", &table->entries_address);
    bytes_skip(&at, 1); /* the version */
    unsigned size = pointer_size((unsigned)bytes_number(&at, 1));
    unsigned count_form = (unsigned)bytes_number(&at, 1);
    unsigned form = (unsigned)bytes_number(&at, 1);
    bytes_skip(&at, size); /* where .eh_frame is */
    table->count = bytes_number(&at, pointer_size(count_form));
    table->table = at;
    if (size == 0 || form != TABLE_FORM || at.at == NULL ||
        table->entries.at == NULL ||
        table->count > (uint64_t)(at.end - at.at) / TABLE_ROW)
        table->count = 0;
}

/* The row of the last function that begins at ADDRESS or before; COUNT if none
 * does. The bases are added modulo 2^64. */
static uint64_t
last_row_before(const struct frame_table *table, uint64_t address)
{
    uint64_t low = 0, high = table->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct bytes at = bytes_from(&table->table, middle * TABLE_ROW);
        int32_t start = (int32_t)bytes_number(&at, 4);
        if (table->table_base + (uint64_t)(int64_t)start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : table->count;
}

/* The form of addresses in the entries that share the common entry at AT. */
static unsigned
address_form(struct bytes at)
{
    bytes_skip(&at, 8); /* length and mark */
    uint64_t version = bytes_number(&at, 1);
    const char *letter = bytes_text(&at);
    bytes_leb(&at);
    bytes_leb(&at);
    if (version == 1)
        bytes_skip(&at, 1);
    else
        bytes_leb(&at);
    if (*letter != 'z')
        return DW_EH_PE_absptr;
    bytes_leb(&at);
    while (at.at != NULL && *++letter != '\0') {
        if (*letter == 'R')
            return (unsigned)bytes_number(&at, 1);
        if (*letter == 'P')
            bytes_skip(&at, pointer_size((unsigned)bytes_number(&at, 1)));
        else if (*letter == 'L')
            bytes_skip(&at, 1);
    }
    return DW_EH_PE_absptr;
}

/* How many bytes of code the entry at ADDRESS covers; 0 if there is no entry.
 */
static uint64_t
code_size(const struct frame_table *table, uint64_t address)
{
    uint64_t place = address - table->entries_address;
    struct bytes at = bytes_from(&table->entries, place);
    if (bytes_number(&at, 4) == UINT32_MAX)
        return 0; /* an entry of more than 4 GiB */
    uint64_t back = bytes_number(&at, 4);
    if (at.at == NULL || back == 0 || back > place + 4)
        return 0;
    unsigned size = pointer_size(
        address_form(bytes_from(&table->entries, place + 4 - back)));
    bytes_skip(&at, size);
    return bytes_number(&at, size);
}

/* Put the beginning of the function that covers ADDRESS into *START. Both are
 * in the file's own numbering. Returns false if none is known, and leaves
 * *START alone. */
static bool
find_frame(const struct frame_table *table, uint64_t address, uint64_t *start)
{
    uint64_t row = last_row_before(table, address);
    struct bytes at = bytes_from(&table->table, row * TABLE_ROW);
    if (row >= table->count)
        return false;
    uint64_t begin =
        table->table_base + (uint64_t)(int64_t)(int32_t)bytes_number(&at, 4);
    uint64_t entry =
        table->table_base + (uint64_t)(int64_t)(int32_t)bytes_number(&at, 4);
    if (address - begin >= code_size(table, entry))
        return false;
    *start = begin;
    return true;
}

/* The name for ADDRESS in a PLT; NULL if unknown. A stub for an IFUNC of the
 * same file has no name, but the function that chooses the target has the same
 * one. */
static const char *
find_stub(struct image *image, uint64_t address)
{
    struct plt_target target;
    if (plt_table_find(&image->plt, &image->sketch.file, address, &target) != 0)
        return NULL;
    if (target.name != NULL)
        return target.name;
    return symbol_table_find(&image->symbols, target.resolver);
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
            read_frames(&image->frames, &image->sketch.file);
        if (symbol_table_read(&image->symbols, &image->file) != 0 ||
            unit_index_read(&image->units, &image->file) != 0) {
            image_close(image);
            return NULL;
        }
    }
    return image;
}

struct image *
image_open_brief(struct sketch *sketch, const uint64_t *addresses, size_t count)
{
    struct image *image = calloc(1, sizeof(*image));
    if (image == NULL) {
        sketch_close(sketch);
        return NULL;
    }
    image->sketch = *sketch;
    read_frames(&image->frames, &image->sketch.file);
    if (sketch_read(&image->sketch, addresses, count, &image->symbols) != 0) {
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

/* The PLT is asked last, only for addresses that neither DWARF nor symbols
 * cover: finding its section means reading all section headers. */
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
        find_frame(&image->frames, address, &answer->start);
}

const char *
image_problem(const struct image *image)
{
    if (image->file.module != NULL || image->sketch.symbols != NULL)
        return NULL;
    return image->file.problem != NULL
               ? image->file.problem
               : "memory was short for a module's symbols";
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
