/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols.h -- where a module has the symbols that it exports. The tables
 * are read in memory, without the loader and without a fault.
 */
#ifndef PROCESS_ELF_SYMBOLS_H
#define PROCESS_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "modules.h"

/* The tables by which the loader finds a module's symbols. */
struct elf_symbols {
    uint64_t base;
    uint64_t symbols, strings; /* addresses */
    uint64_t buckets, chains, bloom;
    uint32_t bucket_count, first, bloom_count, bloom_shift;
    /* Its relocations (Elf64_Rela), in two parts: those of data, and those of
     * calls. */
    struct elf_relocations {
        uint64_t start, size; /* address, and bytes */
    } relocations[2];
    bool is_program; /* it is the program's own file */
};

/* Find the tables of MODULE. Returns false if it has none of the kind that GNU
 * linkers write (DT_GNU_HASH). Context: sampler. */
bool elf_symbols_open(struct elf_symbols *table, const struct module *module);

/* The address and the size of the symbol NAME. Returns false if the module does
 * not export it. Context: sampler. */
bool elf_symbols_find(const struct elf_symbols *table, const char *name,
                      uint64_t *address, uint64_t *size);

/* The NUMBER of the thread-local variable NAME in the table of symbols, and its
 * OFFSET in each thread's data of the module. Returns false if the module does
 * not export it. Context: sampler. */
bool elf_symbols_find_local(const struct elf_symbols *table, const char *name,
                            uint32_t *number, uint64_t *offset);

#endif
