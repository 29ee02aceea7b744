/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.h -- the code symbols of one file, sorted by address. From
 * .symtab, .dynsym or .gnu_debugdata, of the file or of its debug file.
 */
#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "range_index.h"

/* All zero is an empty table. */
struct symbol_table {
    struct range_index ranges; /* values: places in NAMES */
    const char **names;        /* the strings belong to the file */
    size_t count, capacity;
};

/* Read the symbols of FILE. Returns 0, or -1 with errno set if memory is short;
 * a damaged or missing table is an empty one. */
int symbol_table_read(struct symbol_table *table, struct elf_file *file);

/* The same one by one: add SYMBOL, which is called NAME and begins at ADDRESS
 * in a section of code that ends at END (0: it holds none), both in the file's
 * own numbering; one that names no code is left out. To be sealed at last. */
int symbol_table_add(struct symbol_table *table, const GElf_Sym *symbol,
                     const char *name, uint64_t address, uint64_t end);
void symbol_table_seal(struct symbol_table *table);

/* Whether a SYMBOL called NAME names a place in a program, code or not. */
bool symbol_table_is_code(const GElf_Sym *symbol, const char *name);

/* The name of the symbol that covers ADDRESS, as it stands in the table (with
 * "@VERSION", if it has one); NULL if there is none. */
const char *symbol_table_find(const struct symbol_table *table,
                              uint64_t address);

void symbol_table_free(struct symbol_table *table);

#endif
