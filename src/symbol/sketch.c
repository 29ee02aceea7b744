/* SPDX-License-Identifier: MIT */
/*
 * sketch.c -- see sketch.h. A file has tens of thousands of symbols, but a
 * profile has few addresses. Each symbol is compared with the sorted addresses,
 * and only those that matter become ranges. A symbol matters if it covers an
 * address. The symbol that begins nearest before each address matters too,
 * because a symbol without a size ends where the next one begins.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/number.h"
#include "debug_server.h"
#include "sketch.h"

/* Estimated ns: for a byte of compressed debug information; for a byte of other
 * debug information, much of which is not read; for a symbol from libdwfl; and
 * for opening a file at all (measured: docs/names.md). */
enum { COMPRESSED_NS = 5, PLAIN_NS = 1, SYMBOL_NS = 300, OPEN_NS = 100000 };

#define DEBUG_FILE "/usr/lib/debug/.build-id/%02x/%s.debug"
#define LONGEST_BUILD_ID 64

/* Open the debug file where distributions put it. Its symbols are usable only
 * if it numbers its addresses like the file. */
static void
open_debug_file(struct sketch *sketch)
{
    struct bytes build_id = elf_view_build_id(&sketch->file);
    size_t length =
        build_id.at != NULL ? (size_t)(build_id.end - build_id.at) : 0;
    sketch->is_all = true;
    if (length < 2 || length > LONGEST_BUILD_ID)
        return;
    char rest[2 * LONGEST_BUILD_ID + 1];
    number_hexadecimal(build_id.at + 1, length - 1, rest);
    char path[sizeof(DEBUG_FILE) + 2 * LONGEST_BUILD_ID];
    snprintf(path, sizeof(path), DEBUG_FILE, build_id.at[0], rest);
    if (elf_view_open(&sketch->debug, path) == 0 &&
        (!elf_view_has_build_id(&sketch->debug, build_id.at, length) ||
         elf_view_first_address(&sketch->debug) !=
             elf_view_first_address(&sketch->file)))
        elf_view_close(&sketch->debug);
    char text[PATH_MAX];
    sketch->is_all = access(elf_view_place(path, text), F_OK) != 0;
}

/* Take the symbol table called NAME of VIEW for SKETCH. False if VIEW has none
 * that is usable. */
static bool
take_symbols(struct sketch *sketch, const struct elf_view *view,
             const char *name)
{
    if (!elf_view_symbols(view, name, &sketch->symbols))
        return false;
    sketch->sections = view->sections;
    sketch->section_count = view->count;
    return true;
}

/* Whether the file to which .gnu_debuglink of the file at PATH leads exists. */
static bool
has_linked_file(const struct sketch *sketch, const char *path)
{
    const Elf64_Shdr *section =
        elf_view_section(&sketch->file, ".gnu_debuglink");
    if (section == NULL || strchr(path, '/') == NULL)
        return false;
    struct bytes link = elf_view_content(&sketch->file, section);
    const char *name = link.at != NULL ? bytes_text(&link) : "";
    return debug_server_is_near(path, name, "");
}

static bool
has_dwarf(const struct elf_view *view)
{
    return elf_view_section(view, ".debug_info") != NULL ||
           elf_view_section(view, ".zdebug_info") != NULL;
}

/* Find the symbols as libdwfl does: in the file's own table, that of its debug
 * file, or the table of exports. Other debug files and .gnu_debugdata are left
 * to libdwfl. */
static bool
find_symbols(struct sketch *sketch, const char *path)
{
    bool is_linked = has_linked_file(sketch, path);
    sketch->is_all = sketch->is_all && !is_linked && !has_dwarf(&sketch->file);
    if (take_symbols(sketch, &sketch->file, ".symtab"))
        return true;
    if (sketch->debug.bytes != NULL)
        return take_symbols(sketch, &sketch->debug, ".symtab");
    return !is_linked &&
           elf_view_section(&sketch->file, ".gnu_debugdata") == NULL &&
           take_symbols(sketch, &sketch->file, ".dynsym");
}

int
sketch_open(struct sketch *sketch, const char *path, const uint8_t *build_id,
            size_t length)
{
    *sketch = (struct sketch){0};
    if (elf_view_open(&sketch->file, path) != 0)
        return -1;
    if (elf_view_has_build_id(&sketch->file, build_id, length)) {
        open_debug_file(sketch);
        if (find_symbols(sketch, path))
            return 0;
    }
    sketch_close(sketch);
    return -1;
}

/* .debug_loc and .debug_loclists have the places of variables. They are not
 * read, and cost nothing. */
static uint64_t
debug_cost(const struct elf_view *view)
{
    uint64_t cost = 0;
    for (size_t i = 1; i < view->count; i++) {
        const Elf64_Shdr *section = &view->sections[i];
        const char *name = elf_view_name(view, section);
        if (section->sh_type == SHT_NOBITS ||
            strncmp(name, ".debug_", 7) != 0 ||
            strncmp(name, ".debug_loc", 10) == 0)
            continue;
        cost += section->sh_size * ((section->sh_flags & SHF_COMPRESSED) != 0
                                        ? COMPRESSED_NS
                                        : PLAIN_NS);
    }
    return cost;
}

uint64_t
sketch_cost(const struct sketch *sketch)
{
    return OPEN_NS + sketch->symbols.count * SYMBOL_NS +
           debug_cost(&sketch->file) +
           (sketch->debug.bytes != NULL ? debug_cost(&sketch->debug) : 0);
}

/* Where the section of SYMBOL ends; 0 if it holds no code. */
static uint64_t
code_end(const struct sketch *sketch, const Elf64_Sym *symbol)
{
    if (symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx >= sketch->section_count)
        return 0;
    const Elf64_Shdr *section = &sketch->sections[symbol->st_shndx];
    return (section->sh_flags & SHF_EXECINSTR) != 0
               ? section->sh_addr + section->sh_size
               : 0;
}

/* The addresses of the questions, and the symbols that may matter for them. */
struct search {
    uint64_t *addresses; /* PLACES, padded with UINT64_MAX */
    uint64_t *nearest;   /* by address: the greatest start at or below it and
                            above the address before it; 0: none yet */
    size_t places; /* a power of two, larger than the number of addresses */
    size_t address_count;
    uint32_t *found; /* numbers of the symbols that may matter */
    size_t count;
};

static int
search_begin(struct search *search, const struct symbol_question *questions,
             size_t count)
{
    *search = (struct search){.places = 1, .address_count = count};
    while (search->places <= count)
        search->places *= 2;
    search->addresses = malloc(search->places * sizeof(*search->addresses));
    search->nearest = calloc(search->places, sizeof(*search->nearest));
    if (search->addresses == NULL || search->nearest == NULL)
        return -1;
    for (size_t i = 0; i < search->places; i++)
        search->addresses[i] = i < count ? questions[i].offset : UINT64_MAX;
    return 0;
}

static void
search_end(struct search *search)
{
    free(search->addresses);
    free(search->nearest);
    free(search->found);
}

/* The place of the first address that is not below LOW. This runs for each
 * symbol of a file: a step is an addition, without a branch that depends on
 * LOW. */
static size_t
place_from(const struct search *search, uint64_t low)
{
    size_t at = 0;
    for (size_t step = search->places / 2; step > 0; step /= 2)
        at += search->addresses[at + step - 1] < low ? step : 0;
    return at;
}

/* Whether SYMBOL covers the address at PLACE, or is the nearest before it among
 * the symbols seen so far. */
static bool
matters(const struct search *search, const Elf64_Sym *symbol, size_t place)
{
    return place < search->address_count &&
           (symbol->st_value >= search->nearest[place] ||
            search->addresses[place] - symbol->st_value < symbol->st_size);
}

/* Find the nearest start before each address among all symbols that name code.
 * Keep the symbols that mattered when they were seen. */
static int
find_nearest(const struct sketch *sketch, struct search *search)
{
    for (size_t i = 1; i < sketch->symbols.count; i++) {
        const Elf64_Sym *symbol = &sketch->symbols.all[i];
        size_t place = place_from(search, symbol->st_value);
        if (!matters(search, symbol, place) || code_end(sketch, symbol) == 0 ||
            !symbol_table_is_code(symbol, elf_view_symbol_name(&sketch->symbols,
                                                               symbol)))
            continue;
        if (symbol->st_value > search->nearest[place])
            search->nearest[place] = symbol->st_value;
        if (!ARRAY_GROW(search->found, search->count))
            return -1;
        search->found[search->count++] = (uint32_t)i;
    }
    return 0;
}

int
sketch_read(const struct sketch *sketch,
            const struct symbol_question *questions, size_t count,
            struct symbol_table *table)
{
    struct search search;
    int status = search_begin(&search, questions, count);
    if (status == 0)
        status = find_nearest(sketch, &search);
    for (size_t i = 0; status == 0 && i < search.count; i++) {
        const Elf64_Sym *symbol = &sketch->symbols.all[search.found[i]];
        if (matters(&search, symbol, place_from(&search, symbol->st_value)))
            status =
                symbol_table_add(table, symbol,
                                 elf_view_symbol_name(&sketch->symbols, symbol),
                                 symbol->st_value, code_end(sketch, symbol));
    }
    search_end(&search);
    range_index_seal(&table->ranges);
    return status;
}

void
sketch_close(struct sketch *sketch)
{
    elf_view_close(&sketch->debug);
    elf_view_close(&sketch->file);
    *sketch = (struct sketch){0};
}
