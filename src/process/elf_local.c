/* SPDX-License-Identifier: MIT */
/*
 * elf_local.c -- see elf_local.h. Few programs have such a variable, so only
 * those have their relocations read.
 *
 * Data that exists when a thread begins lies at the same distance from the
 * control block in all threads. Data of a later module is allocated for each
 * thread when it first needs it. Then the thread's table has the address that
 * must be freed (glibc's dtv_t).
 */
#include <elf.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/sys.h"
#include "elf_symbols.h"
#include "elf_local.h"
#include "base/poison.h"

/* Number of relocations that one system call reads, and limit of those that are
 * read of a module. */
#define RELOCATIONS 64u
#define RELOCATIONS_MOST (1u << 20)

/* Limits of the modules with data of threads, and of the distance of such data
 * in bytes. */
#define MODULES_MOST 4096u
#define DISTANCE_MOST (1 << 20)

/* The target of the search: symbol NUMBER, or a relocation without a symbol for
 * the same OFFSET. */
struct wanted {
    const struct elf_symbols *table;
    uint32_t number;
    uint64_t offset;
};

/* Whether RELOCATION serves the module's access to the variable. A linker that
 * binds the variable within the module leaves the symbol out. */
static bool
take_relocation(struct elf_local *local, const struct wanted *wanted,
                const Elf64_Rela *relocation)
{
    uint32_t number = (uint32_t)ELF64_R_SYM(relocation->r_info);
    bool is_named = number == wanted->number && relocation->r_addend == 0;
    bool is_same =
        number == 0 && (uint64_t)relocation->r_addend == wanted->offset;
    switch (ELF64_R_TYPE(relocation->r_info)) {
    case ARCH_RELOCATION_MODULE:
        local->way = is_named ? ELF_LOCAL_PAIR : ELF_LOCAL_MODULE;
        is_same = number == 0;
        break;
    case ARCH_RELOCATION_DISTANCE:
        local->way = ELF_LOCAL_DISTANCE;
        break;
    case ARCH_RELOCATION_DESCRIPTOR:
        local->way = ELF_LOCAL_DESCRIPTOR;
        break;
    default:
        return false;
    }
    local->place = wanted->table->base + relocation->r_offset;
    return is_named || is_same;
}

/* Look through the relocations PART. */
static bool
find_relocation(struct elf_local *local, const struct wanted *wanted,
                const struct elf_relocations *part)
{
    Elf64_Rela some[RELOCATIONS];
    uint64_t count = part->start != 0 ? part->size / sizeof(*some) : 0;
    for (uint64_t i = 0; i < count && i < RELOCATIONS_MOST; i += RELOCATIONS) {
        uint64_t now = count - i < RELOCATIONS ? count - i : RELOCATIONS;
        if (!sys_copy_memory(some, part->start + i * sizeof(*some),
                             now * sizeof(*some)))
            return false;
        for (uint64_t j = 0; j < now; j++)
            if (take_relocation(local, wanted, &some[j]))
                return true;
    }
    return false;
}

bool
elf_local_find(struct elf_local *local, const struct module *module,
               const char *name)
{
    struct elf_symbols table;
    struct wanted wanted = {.table = &table};
    *local = (struct elf_local){.way = ELF_LOCAL_PROGRAM};
    if (!elf_symbols_open(&table, module) ||
        !elf_symbols_find_local(&table, name, &wanted.number, &wanted.offset))
        return false;
    bool is_found = find_relocation(local, &wanted, &table.relocations[0]) ||
                    find_relocation(local, &wanted, &table.relocations[1]);
    if (!is_found)
        *local = (struct elf_local){.way = ELF_LOCAL_PROGRAM};
    local->offset = wanted.offset;
    return is_found || table.is_program;
}

/* A module's data in the table of a thread. */
struct data {
    uint64_t address;
    uint64_t to_free; /* 0: it existed when the thread began */
};

/* Data that the thread has not needed yet. */
#define NO_DATA UINT64_MAX

/* Read the entry NUMBER of the table at TABLE. Returns false without data. */
static bool
read_data(struct data *data, uint64_t table, uint64_t number)
{
    uint64_t count;
    return number != 0 && number <= MODULES_MOST &&
           sys_copy_memory(&count, table - sizeof(*data), sizeof(count)) &&
           number <= count &&
           sys_copy_memory(data, table + number * sizeof(*data),
                           sizeof(*data)) &&
           data->address != 0 && data->address != NO_DATA;
}

/* The block of LOCAL, if WORDS lie at its place. */
static bool
find_block(const struct elf_local *local, const uint64_t words[2],
           struct elf_block *block)
{
    uint64_t pair[2];
    *block = (struct elf_block){words[0], local->offset};
    if (local->way == ELF_LOCAL_PAIR) {
        block->offset = words[1];
    } else if (local->way == ELF_LOCAL_DESCRIPTOR) {
        /* The function that looks in the table uses such a pair, too. */
        if (!sys_copy_memory(pair, words[1], sizeof(pair)))
            return false;
        *block = (struct elf_block){pair[0], pair[1]};
    }
    return block->number != 0 && block->number <= MODULES_MOST &&
           block->offset < DISTANCE_MOST && block->offset % 8 == 0;
}

/* The pair at the place of LOCAL. The program's own data is that of module 1.
 */
static bool
read_words(const struct elf_local *local, uint64_t words[2])
{
    words[0] = 1;
    words[1] = 0;
    return local->way == ELF_LOCAL_PROGRAM ||
           sys_copy_memory(words, local->place, 2 * sizeof(*words));
}

/* The distance of BLOCK from POINTER, if all threads have it there. */
static int64_t
distance_of(const struct elf_block *block, uint64_t pointer)
{
    uint64_t table;
    struct data data;
    if (!sys_copy_memory(&table, pointer + ARCH_MODULES_DATA, sizeof(table)) ||
        !read_data(&data, table, block->number) || data.to_free != 0)
        return 0;
    return (int64_t)(data.address + block->offset - pointer);
}

int64_t
elf_local_distance(const struct elf_local *local, uint64_t pointer)
{
    uint64_t words[2];
    struct elf_block block;
    int64_t distance = 0;
    if (!read_words(local, words))
        return 0;
    if (local->way == ELF_LOCAL_DISTANCE)
        distance = (int64_t)words[0];
    else if (local->way == ELF_LOCAL_DESCRIPTOR)
        distance = (int64_t)words[1];
    else if (find_block(local, words, &block))
        distance = distance_of(&block, pointer);
    return distance > -DISTANCE_MOST && distance < DISTANCE_MOST &&
                   distance % 8 == 0
               ? distance
               : 0;
}

bool
elf_local_block(const struct elf_local *local, struct elf_block *block)
{
    uint64_t words[2];
    return local->way != ELF_LOCAL_DISTANCE && read_words(local, words) &&
           find_block(local, words, block);
}

uint64_t
elf_local_address(const struct elf_block *block, uint64_t table)
{
    struct data data;
    return read_data(&data, table, block->number) ? data.address + block->offset
                                                  : 0;
}
