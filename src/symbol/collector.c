/* SPDX-License-Identifier: MIT */
/*
 * collector.c -- see collector.h. Without a table of symbols the calls of
 * PyGC_Collect are read from its code: "call" and "jmp" with a relative target
 * (Intel SDM, volume 2), or "bl" and "b" (Arm ARM, C6.2). A target counts if a
 * function that is not exported begins there, as .eh_frame shows. The other
 * such functions keep an exception and call the program's callbacks. They are
 * shorter, so the longest is taken.
 */
#include <string.h>

#include "elf_view.h"
#include "frame_table.h"
#include "collector.h"

/* The longest code of PyGC_Collect that is read, in bytes. */
#define CALLER_MOST 1024u

/* The file, while its collector is looked for. */
struct search {
    struct elf_view view;
    struct elf_view_symbols exported;
    const Elf64_Sym *caller; /* PyGC_Collect */
    struct frame_table functions;
};

bool
collector_is_name(const char *name)
{
    static const char *const names[] = {"gc_collect_main",
                                        "zend_gc_collect_cycles"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 &&
            (name[length] == '\0' || name[length] == '.'))
            return true;
    }
    return false;
}

/* The function in SYMBOLS that is called NAME; NULL if none is. */
static const Elf64_Sym *
find_function(const struct elf_view_symbols *symbols, const char *name)
{
    for (size_t i = 1; i < symbols->count; i++) {
        const Elf64_Sym *symbol = &symbols->all[i];
        if (symbol->st_shndx != SHN_UNDEF && symbol->st_size != 0 &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            strcmp(elf_view_symbol_name(symbols, symbol), name) == 0)
            return symbol;
    }
    return NULL;
}

/* Find the collector by its name, which differs in CPython 3.9. */
static bool
find_by_name(struct collector *collector, const struct elf_view *view)
{
    struct elf_view_symbols symbols;
    if (!elf_view_symbols(view, ".symtab", &symbols))
        return false;
    const Elf64_Sym *found = find_function(&symbols, "gc_collect_main");
    if (found == NULL)
        found = find_function(&symbols, "collect");
    if (found != NULL)
        *collector = (struct collector){found->st_value,
                                        found->st_value + found->st_size};
    return found != NULL;
}

/* The code of PyGC_Collect. AT is NULL if the file does not have it. */
static struct bytes
code_of_caller(const struct search *search)
{
    const Elf64_Sym *caller = search->caller;
    struct bytes none = {NULL, NULL};
    if (caller->st_shndx >= search->view.count || caller->st_size > CALLER_MOST)
        return none;
    const Elf64_Shdr *section = &search->view.sections[caller->st_shndx];
    struct bytes code = elf_view_content(&search->view, section);
    uint64_t offset = caller->st_value - section->sh_addr;
    if (code.at == NULL || offset > (size_t)(code.end - code.at) ||
        caller->st_size > (size_t)(code.end - code.at) - offset)
        return none;
    return (struct bytes){code.at + offset, code.at + offset + caller->st_size};
}

static bool
is_exported(const struct search *search, uint64_t address)
{
    for (size_t i = 1; i < search->exported.count; i++)
        if (search->exported.all[i].st_value == address)
            return true;
    return false;
}

/* Make the function at ADDRESS the collector if it may be one, and is longer
 * than the last one found. */
static void
consider(const struct search *search, struct collector *collector,
         uint64_t address)
{
    uint64_t start, end;
    if (address - search->caller->st_value >= search->caller->st_size &&
        !is_exported(search, address) &&
        frame_table_find(&search->functions, address, &start, &end) &&
        start == address && end - start > collector->high - collector->low)
        *collector = (struct collector){start, end};
}

/* Look at the calls in CODE, which is at ADDRESS. */
static void
read_calls_x86(const struct search *search, struct collector *collector,
               struct bytes code, uint64_t address)
{
    for (const uint8_t *at = code.at; code.end - at >= 5; at++) {
        int32_t distance;
        if (*at != 0xe8 && *at != 0xe9)
            continue;
        memcpy(&distance, at + 1, sizeof(distance));
        consider(search, collector,
                 address + (uint64_t)(at - code.at) + 5 +
                     (uint64_t)(int64_t)distance);
    }
}

static void
read_calls_arm(const struct search *search, struct collector *collector,
               struct bytes code, uint64_t address)
{
    for (const uint8_t *at = code.at; code.end - at >= 4; at += 4) {
        uint32_t word;
        memcpy(&word, at, sizeof(word));
        if ((word & 0x7c000000u) != 0x14000000u)
            continue;
        int64_t distance = (int64_t)(int32_t)(word << 6) >> 4;
        consider(search, collector,
                 address + (uint64_t)(at - code.at) + (uint64_t)distance);
    }
}

static const struct machine {
    unsigned number; /* e_machine */
    void (*read_calls)(const struct search *search, struct collector *collector,
                       struct bytes code, uint64_t address);
} machines[] = {{EM_X86_64, read_calls_x86}, {EM_AARCH64, read_calls_arm}};

/* Find the collector by the calls of PyGC_Collect. */
static bool
find_by_calls(struct search *search, struct collector *collector)
{
    const Elf64_Ehdr *header = (const void *)search->view.bytes;
    struct bytes code = code_of_caller(search);
    *collector = (struct collector){0, 0};
    if (code.at == NULL)
        return false;
    frame_table_read(&search->functions, &search->view);
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
        if (machines[i].number == header->e_machine)
            machines[i].read_calls(search, collector, code,
                                   search->caller->st_value);
    return collector->high != 0;
}

bool
collector_find(struct collector *collector, const char *path,
               const uint8_t *build_id, size_t length)
{
    struct search search = {.caller = NULL};
    bool found = false;
    if (elf_view_open(&search.view, path) != 0)
        return false;
    if (elf_view_has_build_id(&search.view, build_id, length) &&
        elf_view_symbols(&search.view, ".dynsym", &search.exported))
        search.caller = find_function(&search.exported, "PyGC_Collect");
    if (search.caller != NULL)
        found = find_by_name(collector, &search.view) ||
                find_by_calls(&search, collector);
    elf_view_close(&search.view);
    return found;
}
