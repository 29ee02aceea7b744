/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.h -- the code symbols of one file, sorted by address. From
 * .symtab, .dynsym or .gnu_debugdata, of the file or of its debug file.
 */
#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include <stdint.h>

#include "elf_file.h"
#include "range_index.h"

/* All zero is an empty table. */
struct symbol_table {
    struct range_index ranges; /* values: places in NAMES */
    const char **names;        /* the strings belong to the file */
    size_t count;
};

/* Read the symbols of FILE. Returns 0, or -1 with errno set if memory is short;
 * a damaged or missing table is an empty one. */
int symbol_table_read(struct symbol_table *table, struct elf_file *file);

/* The name of the symbol that covers ADDRESS, as it stands in the table (with
 * "@VERSION", if it has one); NULL if there is none. */
const char *symbol_table_find(const struct symbol_table *table,
                              uint64_t address);

void symbol_table_free(struct symbol_table *table);

#endif
