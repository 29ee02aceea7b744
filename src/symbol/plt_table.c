/* SPDX-License-Identifier: MIT */
/*
 * plt_table.c -- naming PLT stubs of x86-64. Report side.
 *
 * The order of stubs is not always the order of relocations (.plt.got, .plt.sec
 * and stubs for IFUNCs differ), so the stub is read: "jmp *slot(%rip)" is ff 25
 * and a 32-bit distance, and the relocation for that slot has the name. Lazy
 * stubs of IBT binaries have no such jump; they run once and stay unnamed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plt_table.h"
#include "sections.h"

#define STUB_SIZE 16

/* A word of the GOT, and what the loader fills it with. */
struct plt_slot {
    uint64_t address;
    struct plt_target target;
};

static int
compare(const void *a, const void *b)
{
    const struct plt_slot *x = a, *y = b;

    return ((x->address > y->address) - (x->address < y->address));
}

static int
add_slot(struct plt_table *table, const struct plt_slot *slot)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        struct plt_slot *slots =
            reallocarray(table->slots, capacity, sizeof(*slots));
        if (!slots)
            return (-1);
        table->slots = slots;
        table->capacity = capacity;
    }
    table->slots[table->count++] = *slot;
    return (0);
}

/* What relocation NUMBER fills its slot with: a symbol of the section that
 * HEADER links to, or what a resolver returns. False if neither. */
static bool
read_slot(Elf *elf, const GElf_Shdr *header, Elf_Data *data, int number,
          struct plt_slot *slot)
{
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    GElf_Shdr symbol_header;
    GElf_Rela relocation;
    GElf_Sym symbol;

    if (!gelf_getrela(data, number, &relocation))
        return (false);
    *slot = (struct plt_slot){.address = relocation.r_offset};
    if (GELF_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE) {
        slot->target.resolver = (uint64_t)relocation.r_addend;
        return (true);
    }
    if (GELF_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT &&
        GELF_R_TYPE(relocation.r_info) != R_X86_64_GLOB_DAT)
        return (false);
    if (!symbol_data || !gelf_getshdr(symbols, &symbol_header) ||
        !gelf_getsym(symbol_data, (int)GELF_R_SYM(relocation.r_info), &symbol))
        return (false);
    slot->target.name = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
    return (slot->target.name && *slot->target.name);
}

static int
read_section(struct plt_table *table, Elf_Scn *section)
{
    struct plt_slot slot;
    GElf_Shdr header;
    Elf_Data *data;
    int count;

    /* Relocations that the loader does not apply are of no interest. */
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
        !(header.sh_flags & SHF_ALLOC) || header.sh_entsize == 0)
        return (0);
    data = elf_getdata(section, NULL);
    count = data ? (int)(data->d_size / sizeof(Elf64_Rela)) : 0;
    for (int i = 0; i < count; i++) {
        if (read_slot(table->elf, &header, data, i, &slot) &&
            add_slot(table, &slot))
            return (-1);
    }
    return (0);
}

/* The PLT section that ADDRESS lies in, and its bytes. */
static Elf_Data *
find_section(const struct plt_table *table, uint64_t address, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    const char *name;

    while ((section = sections_next(table->elf, section, header, &name))) {
        if (address >= header->sh_addr &&
            address - header->sh_addr < header->sh_size &&
            header->sh_type == SHT_PROGBITS && strncmp(name, ".plt", 4) == 0)
            return (elf_rawdata(section, NULL));
    }
    return (NULL);
}

/* The word that the stub at START (SIZE bytes) jumps through; 0 if none. */
static uint64_t
slot_of(const uint8_t *stub, size_t size, uint64_t start)
{
    int32_t distance;

    for (size_t i = 0; i + 6 <= size; i++) {
        if (stub[i] != 0xff || stub[i + 1] != 0x25)
            continue;
        /* It counts from the next instruction: ff 25 e2 2f 00 00 at 0x1030
         * jumps through the word at 0x4018. */
        memcpy(&distance, stub + i + 2, sizeof(distance));
        return (start + i + 6 + (uint64_t)(int64_t)distance);
    }
    return (0);
}

/* A stub leads to the address of a slot, never to its number: hence the order
 * by address. */
int
plt_table_read(struct plt_table *table, struct elf_file *file)
{
    Elf_Scn *section = NULL;
    GElf_Ehdr header;

    if (!gelf_getehdr(file->elf, &header) || header.e_machine != EM_X86_64)
        return (0);
    table->elf = file->elf;
    while ((section = elf_nextscn(file->elf, section))) {
        if (read_section(table, section))
            return (-1);
    }
    if (table->count)
        qsort(table->slots, table->count, sizeof(*table->slots), compare);
    return (0);
}

int
plt_table_find(const struct plt_table *table, uint64_t address,
               struct plt_target *target)
{
    struct plt_slot key = {0}, *slot;
    uint64_t start, size;
    GElf_Shdr header;
    Elf_Data *data = find_section(table, address, &header);

    if (!data || !data->d_buf || table->count == 0)
        return (-1);
    /* Stubs are of 16 bytes, but those of .plt.got may be of 8. */
    size = header.sh_entsize == 8 ? 8 : STUB_SIZE;
    start = (address - header.sh_addr) / size * size;
    if (start + size > data->d_size)
        return (-1);
    key.address = slot_of((const uint8_t *)data->d_buf + start, size,
                          header.sh_addr + start);
    slot = bsearch(&key, table->slots, table->count, sizeof(key), compare);
    if (!slot)
        return (-1);
    *target = slot->target;
    return (0);
}

void
plt_table_free(struct plt_table *table)
{
    free(table->slots);
    *table = (struct plt_table){0};
}
