/* SPDX-License-Identifier: MIT */
/*
 * sketch.c -- see sketch.h. Symbols are tens of thousands, and the addresses
 * few: each symbol is held against the sorted addresses, and only those that
 * matter become ranges. These are the ones that cover an address, and for each
 * address the one that begins nearest before it, because a symbol without a
 * size ends where the next one begins.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sketch.h"

/* ns for a byte of debug information that is compressed, and for one that is
 * not, of which much is not read; for a symbol that libdwfl hands out; and for
 * opening the file at all (measured: docs/names.md). */
enum { COMPRESSED_NS = 5, PLAIN_NS = 1, SYMBOL_NS = 300, OPEN_NS = 100000 };

#define DEBUG_FILE "/usr/lib/debug/.build-id/%02x/%s.debug"
#define LONGEST_BUILD_ID 64

static bool
has_build_id(const struct elf_view *view, const uint8_t *build_id,
             size_t length)
{
    struct bytes found = elf_view_build_id(view);

    return (length == 0 ||
            (found.at && (size_t)(found.end - found.at) == length &&
             memcmp(found.at, build_id, length) == 0));
}

/* The debug file where distributions put it. Its symbols are of use only if it
 * numbers its addresses like the file. */
static void
open_debug_file(struct sketch *sketch)
{
    struct bytes build_id = elf_view_build_id(&sketch->file);
    size_t length = build_id.at ? (size_t)(build_id.end - build_id.at) : 0;
    char path[sizeof(DEBUG_FILE) + 2 * LONGEST_BUILD_ID];
    char rest[2 * LONGEST_BUILD_ID + 1];

    sketch->is_all = true;
    if (length < 2 || length > LONGEST_BUILD_ID)
        return;
    for (size_t i = 1; i < length; i++)
        snprintf(rest + 2 * (i - 1), 3, "%02x", build_id.at[i]);
    snprintf(path, sizeof(path), DEBUG_FILE, build_id.at[0], rest);
    if (elf_view_open(&sketch->debug, path) == 0 &&
        (!has_build_id(&sketch->debug, build_id.at, length) ||
         elf_view_first_address(&sketch->debug) !=
             elf_view_first_address(&sketch->file)))
        elf_view_close(&sketch->debug);
    sketch->is_all = access(path, F_OK) != 0;
}

/* Whether VIEW has the symbol table called NAME, which is then SKETCH's. */
static bool
take_symbols(struct sketch *sketch, const struct elf_view *view,
             const char *name)
{
    const Elf64_Shdr *section = elf_view_section(view, name);
    struct bytes symbols;

    if (!section || section->sh_entsize != sizeof(Elf64_Sym) ||
        section->sh_link >= view->count || section->sh_offset % 8 != 0)
        return (false);
    symbols = elf_view_content(view, section);
    sketch->strings = elf_view_content(view, &view->sections[section->sh_link]);
    /* The last text in it ends. */
    if (!symbols.at || !sketch->strings.at ||
        sketch->strings.at == sketch->strings.end ||
        sketch->strings.end[-1] != '\0')
        return (false);
    sketch->symbols = (const void *)symbols.at;
    sketch->count = (size_t)(symbols.end - symbols.at) / sizeof(Elf64_Sym);
    sketch->sections = view->sections;
    sketch->section_count = view->count;
    return (true);
}

/* Whether there is a file where .gnu_debuglink of the file at PATH leads:
 * beside it, in .debug, and below /usr/lib/debug in the same folder, or in what
 * is left of that without its first parts (libdwfl's search). */
static bool
has_linked_file(const struct sketch *sketch, const char *path)
{
    const Elf64_Shdr *section =
        elf_view_section(&sketch->file, ".gnu_debuglink");
    const char *slash = strrchr(path, '/'), *folder = path;
    char tried[2 * PATH_MAX];
    struct bytes link;
    const char *name;

    if (!section || !slash)
        return (false);
    link = elf_view_content(&sketch->file, section);
    name = link.at ? bytes_text(&link) : "";
    for (int i = 0; i < 2; i++) {
        snprintf(tried, sizeof(tried), "%.*s/%s%.255s", (int)(slash - path),
                 path, i ? ".debug/" : "", name);
        if (access(tried, F_OK) == 0)
            return (true);
    }
    for (; folder <= slash; folder += 1 + strcspn(folder + 1, "/")) {
        snprintf(tried, sizeof(tried), "/usr/lib/debug%.*s/%.255s",
                 (int)(slash - folder), folder, name);
        if (access(tried, F_OK) == 0)
            return (true);
    }
    return (false);
}

static bool
has_dwarf(const struct elf_view *view)
{
    return (elf_view_section(view, ".debug_info") ||
            elf_view_section(view, ".zdebug_info"));
}

/* As libdwfl: the file's own table, that of its debug file, or what the file
 * exports; other debug files and .gnu_debugdata are left to libdwfl. */
static bool
find_symbols(struct sketch *sketch, const char *path)
{
    bool is_linked = has_linked_file(sketch, path);

    sketch->is_all = sketch->is_all && !is_linked && !has_dwarf(&sketch->file);
    if (take_symbols(sketch, &sketch->file, ".symtab"))
        return (true);
    if (sketch->debug.bytes)
        return (take_symbols(sketch, &sketch->debug, ".symtab"));
    return (!is_linked && !elf_view_section(&sketch->file, ".gnu_debugdata") &&
            take_symbols(sketch, &sketch->file, ".dynsym"));
}

int
sketch_open(struct sketch *sketch, const char *path, const uint8_t *build_id,
            size_t length)
{
    *sketch = (struct sketch){0};
    if (elf_view_open(&sketch->file, path))
        return (-1);
    if (has_build_id(&sketch->file, build_id, length)) {
        open_debug_file(sketch);
        if (find_symbols(sketch, path))
            return (0);
    }
    sketch_close(sketch);
    return (-1);
}

/* .debug_loc and .debug_loclists, which say where variables are, are not read.
 */
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
        cost += section->sh_size *
                (section->sh_flags & SHF_COMPRESSED ? COMPRESSED_NS : PLAIN_NS);
    }
    return (cost);
}

uint64_t
sketch_cost(const struct sketch *sketch)
{
    return (OPEN_NS + sketch->count * SYMBOL_NS + debug_cost(&sketch->file) +
            (sketch->debug.bytes ? debug_cost(&sketch->debug) : 0));
}

/* Where the section of SYMBOL ends; 0 if it holds no code. */
static uint64_t
code_end(const struct sketch *sketch, const Elf64_Sym *symbol)
{
    const Elf64_Shdr *section;

    if (symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx >= sketch->section_count)
        return (0);
    section = &sketch->sections[symbol->st_shndx];
    return (section->sh_flags & SHF_EXECINSTR
                ? section->sh_addr + section->sh_size
                : 0);
}

static const char *
name_of(const struct sketch *sketch, const Elf64_Sym *symbol)
{
    return (symbol->st_name < (size_t)(sketch->strings.end - sketch->strings.at)
                ? (const char *)sketch->strings.at + symbol->st_name
                : "");
}

/* What is known of the places that are asked for, and the symbols that may
 * matter for them. */
struct search {
    uint64_t *addresses; /* PLACES, filled up with the greatest number */
    uint64_t *nearest;   /* the greatest start that is not above each, but above
                            the one before it; 0: none yet */
    size_t places;       /* a power of two, more than there are addresses */
    size_t address_count;
    uint32_t *found; /* numbers of symbols */
    size_t count, capacity;
};

static int
search_begin(struct search *search, const uint64_t *addresses, size_t count)
{
    *search = (struct search){.places = 1, .address_count = count};
    while (search->places <= count)
        search->places *= 2;
    search->addresses = malloc(search->places * sizeof(*addresses));
    search->nearest = calloc(search->places, sizeof(*search->nearest));
    if (!search->addresses || !search->nearest)
        return (-1);
    for (size_t i = 0; i < search->places; i++)
        search->addresses[i] = i < count ? addresses[i] : UINT64_MAX;
    return (0);
}

static void
search_end(struct search *search)
{
    free(search->addresses);
    free(search->nearest);
    free(search->found);
}

/* The place of the first address that is not below LOW. It is asked for each
 * symbol of a file: a step is an addition, and no branch that depends on LOW.
 */
static size_t
place_from(const struct search *search, uint64_t low)
{
    size_t at = 0;

    for (size_t step = search->places / 2; step > 0; step /= 2)
        at += search->addresses[at + step - 1] < low ? step : 0;
    return (at);
}

static int
keep(struct search *search, size_t number)
{
    if (search->count == search->capacity) {
        size_t capacity = search->capacity * 2 + 64;
        uint32_t *found = reallocarray(search->found, capacity, sizeof(*found));
        if (!found)
            return (-1);
        search->found = found;
        search->capacity = capacity;
    }
    search->found[search->count++] = (uint32_t)number;
    return (0);
}

/* Whether SYMBOL, at PLACE, covers that address, or is the nearest before it of
 * those that were seen. */
static bool
matters(const struct search *search, const Elf64_Sym *symbol, size_t place)
{
    return (place < search->address_count &&
            (symbol->st_value >= search->nearest[place] ||
             search->addresses[place] - symbol->st_value < symbol->st_size));
}

/* Find the nearest start before each address, of any symbol that names code,
 * and keep the symbols that mattered when they were seen. */
static int
find_nearest(const struct sketch *sketch, struct search *search)
{
    for (size_t i = 1; i < sketch->count; i++) {
        const Elf64_Sym *symbol = &sketch->symbols[i];
        size_t place = place_from(search, symbol->st_value);
        if (!matters(search, symbol, place) || code_end(sketch, symbol) == 0 ||
            !symbol_table_is_code(symbol, name_of(sketch, symbol)))
            continue;
        if (symbol->st_value > search->nearest[place])
            search->nearest[place] = symbol->st_value;
        if (keep(search, i))
            return (-1);
    }
    return (0);
}

int
sketch_read(const struct sketch *sketch, const uint64_t *addresses,
            size_t count, struct symbol_table *table)
{
    struct search search;
    int status = search_begin(&search, addresses, count);

    if (!status)
        status = find_nearest(sketch, &search);
    for (size_t i = 0; !status && i < search.count; i++) {
        const Elf64_Sym *symbol = &sketch->symbols[search.found[i]];
        if (matters(&search, symbol, place_from(&search, symbol->st_value)))
            status =
                symbol_table_add(table, symbol, name_of(sketch, symbol),
                                 symbol->st_value, code_end(sketch, symbol));
    }
    search_end(&search);
    symbol_table_seal(table);
    return (status);
}

void
sketch_close(struct sketch *sketch)
{
    elf_view_close(&sketch->debug);
    elf_view_close(&sketch->file);
    *sketch = (struct sketch){0};
}
